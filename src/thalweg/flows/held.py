"""Held tuples: the part of streams and tables that a flow keeps for queries added later with backfill."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from thalweg.algebra.plan import Plan
from thalweg.algebra.windows import Window
from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.flows.reach import reached, streams_of, windows_of
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.ordering import net
from thalweg.kernel.windows.physical import in_order_of_time

_NO_PRUNING_BELOW = 1_024  # tuples


class HeldStream(Stateful, kind="held-stream/1"):
    """The last `most` tuples of a stream that some live query's window still reaches, in order of arrival.

    Tuples out of reach are dropped late, which costs little per tuple; `tuples` gives exactly those within reach.
    """

    KEPT = ("_most", "_parts", "_let_go_at")

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[Batch] = []
        self._let_go_at = _NO_PRUNING_BELOW

    def take(self, arrived: Batch | None, windows: Collection[Window], now: Instant) -> None:
        """Add tuples, if any window may reach them."""
        if arrived is not None and len(arrived) and windows:
            self._parts.append(in_order_of_time(arrived))
        if not windows:
            self._parts = []
        elif len(self) > self._let_go_at:
            self.tuples(windows, now)
            self._let_go_at = max(_NO_PRUNING_BELOW, 2 * len(self))

    def tuples(self, windows: Collection[Window], now: Instant) -> Batch | None:
        """The tuples within reach at `now`, or None; all others are dropped."""
        if not self._parts:
            return None
        all_ = Batch.concat(self._parts)
        within = np.zeros(len(all_), dtype=np.bool_)
        for window in windows:
            within |= reached(window, all_, now)
        kept = all_.take(np.flatnonzero(within)[-self._most :])
        self._parts = [kept] if len(kept) else []
        return kept if len(kept) else None

    @property
    def oldest(self) -> Instant:
        """The arrival of the oldest tuple that has not been dropped."""
        return int(self._parts[0].start[0]) if self._parts else FOREVER

    def __len__(self) -> int:
        return sum(map(len, self._parts))


class HeldTable(Stateful, kind="held-table/1"):
    """The updates of a table since the oldest held tuple, and the rows that the table had before."""

    KEPT = ("_parts", "_sum_up_at")

    def __init__(self) -> None:
        self._parts: list[Batch] = []
        self._sum_up_at = _NO_PRUNING_BELOW

    def take(self, updates: Batch | None, oldest: Instant) -> None:
        """Add updates; those up to `oldest` may be summed up as rows."""
        if updates is not None and len(updates):
            self._parts.append(updates)
            if len(self) > self._sum_up_at:
                self._parts = [self.since(oldest)]
                self._sum_up_at = max(_NO_PRUNING_BELOW, 2 * len(self))

    def since(self, start: Instant) -> Batch:
        """The rows of the table at `start`, as inserted then, and the updates since."""
        all_ = Batch.concat(self._parts)
        later = all_.start > start
        before = all_.take(~later)
        left, signs = net(before.columns, before.sign.astype(np.int64))
        rows = before.take(left)
        held = Batch(rows.columns, np.full(len(rows), start), rows.end, signs.astype(np.int8))
        return Batch.concat([held, all_.take(later)])

    def __len__(self) -> int:
        return sum(map(len, self._parts))


class Held(Stateful, kind="held-tuples/1"):
    """All tuples that a flow holds, given the windows of its live queries.

    A tuple is held from its arrival on, for as long as some live query's window reaches it without a break: a larger
    window that is added later does not bring back tuples that were out of reach before.
    """

    KEPT = ("_streams", "_tables")

    def __init__(self, most: int) -> None:
        self._most = most
        self._windows: defaultdict[str, Counter[Window]] = defaultdict(Counter)
        self._readers: Counter[str] = Counter()
        self._streams: dict[str, HeldStream] = {}
        self._tables: dict[str, HeldTable] = {}

    def enter(self, plan: Plan, now: Instant) -> None:
        """Count the windows of a new query; tuples out of reach until now are dropped first."""
        for stream, window in windows_of(plan):
            if stream in self._streams:
                self._streams[stream].tuples(self._windows[stream], now)
            self._windows[stream][window] += 1
        self._readers.update(streams_of(plan))

    def live(self, plans: Iterable[Plan]) -> None:
        """After a restore: count the windows of the live queries."""
        for plan in plans:
            self._readers.update(streams_of(plan))
            for stream, window in windows_of(plan):
                self._windows[stream][window] += 1

    def leave(self, plan: Plan) -> None:
        """Stop counting the windows of a dropped query."""
        for stream, window in windows_of(plan):
            self._windows[stream][window] -= 1
            self._windows[stream] += Counter()  # removes windows with a count of 0
        self._readers.subtract(streams_of(plan))

    @property
    def read(self) -> set[str]:
        """The streams that live queries read."""
        return set(+self._readers)

    def know_table(self, name: str) -> None:
        """Declare that feeds of this name are updates of a table."""
        self._tables.setdefault(name, HeldTable())

    def take(self, feeds: Mapping[str, Batch], now: Instant) -> None:
        """Add the feeds up to and at `now`."""
        for name in self._windows:
            self._streams.setdefault(name, HeldStream(self._most))
        for name, stream in self._streams.items():
            stream.take(feeds.get(name), self._windows[name], now)
        if self._tables:
            oldest = self.oldest(now)
            for name, table in self._tables.items():
                table.take(feeds.get(name), oldest)

    def oldest(self, now: Instant) -> Instant:
        """The arrival of the oldest tuple that has not been dropped; `now` if there is none."""
        return min([now, *(stream.oldest for stream in self._streams.values())])

    def streams(self, now: Instant) -> dict[str, Batch]:
        """The held tuples, by stream."""
        found = {name: stream.tuples(self._windows[name], now) for name, stream in self._streams.items()}
        return {name: tuples for name, tuples in found.items() if tuples is not None}

    def tables(self, start: Instant) -> dict[str, Batch]:
        """The rows of tables at `start`, and their updates since."""
        return {name: table.since(start) for name, table in self._tables.items() if len(table)}

    @property
    def sizes(self) -> dict[str, int]:
        """How many tuples are stored, by source; some may be out of reach."""
        streams = {name: len(stream) for name, stream in self._streams.items()}
        return streams | {name: len(table) for name, table in self._tables.items()}
