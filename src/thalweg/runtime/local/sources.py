"""The streams and tables of a session: declarations, clocks (watermarks), late rows, contents of tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, time

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.errors import DataError, OutOfOrderError
from thalweg.core.python_values import read_instant
from thalweg.core.time import BEGINNING, DAY, Clock, Instant, from_datetime
from thalweg.runtime.interface import TimeLike
from thalweg.runtime.local.streams import StreamClock
from thalweg.runtime.local.tables import TableLog


class Sources:
    """Shared by a session, its queries and its flows; only the session changes it."""

    def __init__(self, today: date | None) -> None:
        self.catalog = Catalog()
        self.clocks: dict[str, StreamClock] = {}
        self.tables: dict[str, TableLog] = {}
        self._advanced: dict[Clock, Instant] = {}  # streams that tick and streams with timestamps move apart
        self._day = None if today is None else from_datetime(datetime.combine(today, time()))

    def declare(self, catalog: Catalog) -> None:
        """Take over what a script has declared in a copy of the catalogue."""
        self.catalog.adopt(catalog)
        for stream in self.catalog.streams:
            clock = self.clocks.setdefault(stream.name, StreamClock(stream))
            if stream.clock in self._advanced:
                clock.advance(self._advanced[stream.clock])
        for relation in self.catalog.relations:
            self.tables.setdefault(relation.name, TableLog(relation))

    def stream(self, name: str) -> StreamClock:
        """The clock of the stream of that name."""
        entry = self.catalog.get(name)
        if not isinstance(entry, Stream):
            raise DataError(f"{entry.name} is not a stream", candidates=[s.name for s in self.catalog.streams])
        return self.clocks[entry.name]

    def table(self, name: str) -> TableLog:
        """The log of the table of that name."""
        entry = self.catalog.get(name)
        if not isinstance(entry, Relation):
            raise DataError(f"{entry.name} is not a relation", candidates=[r.name for r in self.catalog.relations])
        return self.tables[entry.name]

    # -- time

    @property
    def clock(self) -> Clock:
        """Timestamps if all streams have them, else ticks."""
        clocks = {stream.clock for stream in self.catalog.streams}
        return Clock.TIMESTAMPS if clocks == {Clock.TIMESTAMPS} else Clock.TICKS

    @property
    def now(self) -> Instant | None:
        """The latest instant that a row has or that time was advanced to; None before that."""
        seen = [c.now + (c.stream.lateness or 0) for c in self.clocks.values() if c.now is not None]
        return max([*seen, *self._advanced.values()], default=None)

    @property
    def today(self) -> Instant | None:
        """The midnight that a bare time of day in a window refers to."""
        now = self.now
        return self._day if now is None or self.clock is Clock.TICKS else now - now % DAY

    def advance(self, t: TimeLike) -> tuple[Clock, Instant]:
        """Move the streams whose time `t` is to `t`."""
        stamped = any(stream.clock is Clock.TIMESTAMPS for stream in self.catalog.streams)
        kind = Clock.TIMESTAMPS if stamped and not isinstance(t, int) else self.clock
        instant = read_instant(kind, t, "advance")
        if instant < self._advanced.get(kind, instant):
            at, back = kind.show(self._advanced[kind]), kind.show(instant)
            raise OutOfOrderError(f"time is at {at} and cannot go back to {back}")
        self._advanced[kind] = instant
        for clock in self.clocks.values():
            if clock.stream.clock is kind:
                clock.advance(instant)
        return kind, instant

    def update_time(self, table: TableLog, at: TimeLike | None, clocks: Sequence[Instant]) -> Instant:
        """When a table is to change: now, or `at`, which must not lie behind the `clocks` of those who read it."""
        if at is None:
            return BEGINNING if self.now is None else max(self.now, table.last)
        t, behind = read_instant(self.clock, at, f"update of {table.relation.name}"), max([table.last, *clocks])
        if t < behind:
            shown = self.clock.show
            raise OutOfOrderError(
                f"{table.relation.name} cannot change at {shown(t)}: time has come to {shown(behind)}",
                hint="leave `at` out to change it now",
            )
        return t

    def watermark(self, streams: Collection[str], tables: Collection[str], kind: Clock) -> Instant | None:
        """The slowest clock of some streams, or where `advance` has brought them; without streams, that of tables."""
        advanced = self._advanced.get(kind)
        if not streams:
            changed = [self.tables[name].last for name in tables if self.tables[name].last > BEGINNING]
            return max([*changed, *([] if advanced is None else [advanced])], default=None)
        times = [self.clocks[name].now for name in streams]
        known = [t for t in times if t is not None]
        return min(known) if len(known) == len(times) else advanced
