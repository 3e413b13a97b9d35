"""A history: the arrivals of every stream and the updates of every relation, in order of time."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict

from thalweg.core.errors import DataError
from thalweg.core.rows import Arrival, Bag, Change, Dated, Row, sorted_rows
from thalweg.core.time import BEGINNING, FOREVER, Instant


class History:
    """Streams and relations up to now; a history only grows.

    Rows may be added in any order: arrivals are ordered by (ts, order of addition), updates by their time.
    """

    def __init__(self) -> None:
        self._streams: defaultdict[str, list[Arrival]] = defaultdict(list)
        self._relations: defaultdict[str, list[Change]] = defaultdict(list)
        self._touched: list[Instant] = []

    def arrive(self, stream: str, ts: Instant, row: Row) -> Arrival:
        """Add a tuple of `stream` with timestamp `ts`."""
        arrivals = self._streams[stream]
        arrival = Arrival(ts, len(arrivals), row)
        insort(arrivals, arrival, key=lambda a: (a.ts, a.seq))
        self._touched.append(ts)
        return arrival

    def insert(self, relation: str, t: Instant, row: Row) -> None:
        """From `t` on, `relation` has one more `row`."""
        insort(self._relations[relation], Change(t, +1, row), key=lambda u: u.t)
        self._touched.append(t)

    def delete(self, relation: str, t: Instant, row: Row) -> None:
        """From `t` on, `relation` has one `row` less; DataError if there is none to delete."""
        updates = self._relations[relation]
        for at in {t, *(u.t for u in updates if u.t > t)}:
            if sum(u.sign for u in updates if u.t <= at and u.row == row) < 1:
                raise DataError(f"relation {relation} has no row {row} to delete at {t}", hint="insert it first")
        insort(updates, Change(t, -1, row), key=lambda u: u.t)
        self._touched.append(t)

    def update(self, relation: str, t: Instant, old: Row, new: Row) -> None:
        """At `t` the row `old` becomes `new`: a delete and an insert at the same instant."""
        self.delete(relation, t, old)
        self.insert(relation, t, new)

    def stream(self, name: str, t: Instant = FOREVER) -> list[Arrival]:
        """S(t): the tuples with ts <= t, in order of (ts, seq)."""
        arrivals = self._streams.get(name, [])
        return arrivals[: bisect_right(arrivals, t, key=lambda a: a.ts)]

    def updates(self, name: str, t: Instant = FOREVER) -> list[Change]:
        """The signed rows of relation `name` up to and at `t`."""
        updates = self._relations.get(name, [])
        return updates[: bisect_right(updates, t, key=lambda u: u.t)]

    def relation(self, name: str, t: Instant = FOREVER) -> list[Dated]:
        """R(t): the bag after all updates up to and at `t`, dated so that it never decides a result's dates."""
        rows: Bag = Counter()
        for _, sign, row in self.updates(name, t):
            rows[row] += sign
        return [Dated(row, BEGINNING, FOREVER) for row in sorted_rows(+rows)]

    @property
    def last(self) -> Instant:
        """The latest instant of an arrival or update; BEGINNING if there is none."""
        return max(self._touched, default=BEGINNING)

    @property
    def size(self) -> int:
        """The number of arrivals and updates."""
        return len(self._touched)

    def unchanged_before(self, size: int) -> Instant:
        """The first instant that entries after the first `size` affect; earlier instants are unchanged since then."""
        return min(self._touched[size:], default=FOREVER)

    def __repr__(self) -> str:
        arrivals = [f"{name} {a.ts}: {a.row}" for name, added in self._streams.items() for a in added]
        updates = [f"{name} {u.t}: {u.sign:+} {u.row}" for name, added in self._relations.items() for u in added]
        return f"History({'; '.join(arrivals + updates)})"
