"""What a flow holds of its streams and tables for queries that come later and want to see it."""

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
from thalweg.kernel.windows.steps import in_order_of_time

_FEW = 1_024


class HeldStream(Stateful, kind="held-stream/1"):
    """The tuples of a stream within reach of some live query's window, in order of arrival; the last `most` at most.

    They are let go of late, so that it costs little per tuple, but `tuples` are always exactly those.
    """

    KEPT = ("_most", "_parts", "_let_go_at")

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[Batch] = []
        self._let_go_at = _FEW

    def take(self, arrived: Batch | None, windows: Collection[Window], now: Instant) -> None:
        """More tuples, as long as there is a window that may want them."""
        if arrived is not None and len(arrived) and windows:
            self._parts.append(in_order_of_time(arrived))
        if not windows:
            self._parts = []
        elif len(self) > self._let_go_at:
            self.tuples(windows, now)
            self._let_go_at = max(_FEW, 2 * len(self))

    def tuples(self, windows: Collection[Window], now: Instant) -> Batch | None:
        """What is within reach at `now`; all else is let go of. None if nothing is."""
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
        """When the first of those came that have not been let go of."""
        return int(self._parts[0].start[0]) if self._parts else FOREVER

    def __len__(self) -> int:
        return sum(map(len, self._parts))


class HeldTable(Stateful, kind="held-table/1"):
    """The updates of a table: one by one as far back as some tuple is held, before that as rows."""

    KEPT = ("_parts", "_sum_up_at")

    def __init__(self) -> None:
        self._parts: list[Batch] = []
        self._sum_up_at = _FEW

    def take(self, updates: Batch | None, oldest: Instant) -> None:
        """More updates; those up to `oldest` need not be told apart any more."""
        if updates is not None and len(updates):
            self._parts.append(updates)
            if len(self) > self._sum_up_at:
                self._parts = [self.since(oldest)]
                self._sum_up_at = max(_FEW, 2 * len(self))

    def since(self, start: Instant) -> Batch:
        """What the table held at `start`, as new then, and the updates since."""
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
    """All that a flow holds, given the windows of its live queries.

    A tuple is held from its arrival on for as long as some live query's window reaches it, without a break: a larger
    window that comes later does not bring back what was out of reach of those before.
    """

    KEPT = ("_streams", "_tables")

    def __init__(self, most: int) -> None:
        self._most = most
        self._windows: defaultdict[str, Counter[Window]] = defaultdict(Counter)
        self._readers: Counter[str] = Counter()
        self._streams: dict[str, HeldStream] = {}
        self._tables: dict[str, HeldTable] = {}

    def enter(self, plan: Plan, now: Instant) -> None:
        """A query lives; what was out of reach before it came is gone."""
        for stream, window in windows_of(plan):
            if stream in self._streams:
                self._streams[stream].tuples(self._windows[stream], now)
            self._windows[stream][window] += 1
        self._readers.update(streams_of(plan))

    def live(self, plans: Iterable[Plan]) -> None:
        """After a restore: the queries whose windows hold what is held."""
        for plan in plans:
            self._readers.update(streams_of(plan))
            for stream, window in windows_of(plan):
                self._windows[stream][window] += 1

    def leave(self, plan: Plan) -> None:
        """A query is gone, and its windows with it."""
        for stream, window in windows_of(plan):
            self._windows[stream][window] -= 1
            self._windows[stream] += Counter()  # without those that nobody has
        self._readers.subtract(streams_of(plan))

    @property
    def read(self) -> set[str]:
        """The streams that live queries read."""
        return set(+self._readers)

    def know_table(self, name: str) -> None:
        """What is fed by this name is a table's updates."""
        self._tables.setdefault(name, HeldTable())

    def take(self, feeds: Mapping[str, Batch], now: Instant) -> None:
        """What streams and tables have gained up to and at `now`."""
        for name in self._windows:
            self._streams.setdefault(name, HeldStream(self._most))
        for name, stream in self._streams.items():
            stream.take(feeds.get(name), self._windows[name], now)
        if self._tables:
            oldest = self.oldest(now)
            for name, table in self._tables.items():
                table.take(feeds.get(name), oldest)

    def oldest(self, now: Instant) -> Instant:
        """When the oldest tuple came that is held or has not been let go of yet; now if there is none."""
        return min([now, *(stream.oldest for stream in self._streams.values())])

    def streams(self, now: Instant) -> dict[str, Batch]:
        """The tuples held, by stream."""
        found = {name: stream.tuples(self._windows[name], now) for name, stream in self._streams.items()}
        return {name: tuples for name, tuples in found.items() if tuples is not None}

    def tables(self, start: Instant) -> dict[str, Batch]:
        """The rows of tables at `start`, and their updates since."""
        return {name: table.since(start) for name, table in self._tables.items() if len(table)}

    @property
    def sizes(self) -> dict[str, int]:
        """How many tuples are kept, by source; some may be let go of."""
        streams = {name: len(stream) for name, stream in self._streams.items()}
        return streams | {name: len(table) for name, table in self._tables.items()}
