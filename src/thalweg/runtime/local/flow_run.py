"""A flow's engine in a session: what has happened is told to it up to the flow's clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.flows.engine import FlowEngine
from thalweg.flows.reach import streams_of
from thalweg.flows.standing import Standing
from thalweg.runtime.local.feeder import Feeder, SourceEvent
from thalweg.runtime.local.streams import StreamClock
from thalweg.runtime.local.tables import TableLog, TableUpdate


class World(NamedTuple):
    """What a flow knows of its session."""

    catalog: Catalog
    clocks: Mapping[str, StreamClock]
    tables: Mapping[str, TableLog]
    advanced: Mapping[Clock, Instant]
    clock: Callable[[], Clock]
    today: Callable[[], Instant | None]


class FlowRun:
    """The flow's clock is the slowest of the streams that its queries read, and never goes back.

    While queries stand, what arrives waits for that clock; a query that is added meanwhile will see it.
    """

    def __init__(self, world: World, tell: Callable[[str, Batch], None]) -> None:
        """`tell` hears what the answer of which query has gained."""
        self.engine = FlowEngine()
        self.first: Instant | None = None  # when anything happened first; what was there before shows then
        self.told = False  # whether anybody has been told of changes
        self._world, self._tell = world, tell
        self._schemas: dict[str, Schema] = {}
        self._feeder = Feeder(self._schemas, self.engine.pool, False, BEGINNING)
        self._reached: Instant | None = None
        for name, table in world.tables.items():
            for update in table.updates:
                self.table_changed(name, update)

    # -- queries

    def add(self, standing: Standing) -> Instant | None:
        """Let a query stand; since when it does, None if the clock has not started."""
        # Without queries nobody has kept the flow's time.
        own = self._clock_of(streams_of(standing.plan), standing.plan.clock or self.clock)
        self._reach(self.clock_now if self.engine.standing else own)
        self._catch_up()
        self.engine.add(standing, self._now)
        return self._reached

    def drop(self, query: str) -> None:
        """End a query."""
        self._reach(self.clock_now)
        self._catch_up()
        self.engine.drop(query)
        if not self.engine.standing:
            self._feeder.forget_arrivals()

    def settle(self) -> None:
        """Tell the engine all that has happened up to the clock."""
        if self.engine.standing:
            self._reach(self.clock_now)
            self._process(self._feeder.due(self._now))

    # -- what the session reports

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple; one behind the clock is of a stream that no query has read so far."""
        if self.engine.standing and ts >= self._now:
            self._schemas.setdefault(stream, self._world.clocks[stream].stream.schema)
            self.happened(ts)
            self._feeder.arrive(stream, ts, row)

    def table_changed(self, relation: str, update: TableUpdate) -> None:
        """A table has changed: also queries that are added later want to know its rows."""
        if relation not in self._schemas:
            self._schemas[relation] = self._world.tables[relation].relation.schema
            self.engine.know_tables(relation)
        if update.t > BEGINNING:
            self.happened(update.t)
        self._feeder.table_changed(relation, update.t, update.sign, update.row)

    def happened(self, t: Instant) -> None:
        """Something concerns the flow at `t`, if only that time was moved there."""
        if self.first is None or (t < self.first and not self.told):
            self.first = t

    def reads(self, name: str) -> bool:
        """Whether a stream or table is of any use to the flow; it keeps the rows of all tables."""
        return name in self._world.tables or name in self.engine.streams

    @property
    def clock(self) -> Clock:
        """What a tick means: as its queries say, or else the session."""
        clocks = (standing.plan.clock for standing in self.engine.standing.values())
        return next((clock for clock in clocks if clock is not None), self._world.clock())

    @property
    def clock_now(self) -> Instant | None:
        """All before this instant has been seen by every query."""
        now = self._clock_of(self.engine.streams, self.clock) if self.engine.standing else None
        known = [t for t in (self._reached, now) if t is not None]
        return max(known, default=None)

    # -- details

    @property
    def _now(self) -> Instant:
        return BEGINNING if self._reached is None else self._reached

    def _reach(self, t: Instant | None) -> None:
        if t is not None:
            self._reached = max(self._now, t)

    def _clock_of(self, streams: Collection[str], clock: Clock) -> Instant | None:
        """How far all of some streams have come; without streams, how far tables have."""
        advanced = self._world.advanced.get(clock)
        if not streams:
            updates = [table.last for table in self._world.tables.values() if table.last > BEGINNING]
            return max([*updates, *([] if advanced is None else [advanced])], default=None)
        times = [self._world.clocks[name].now for name in streams]
        known = [t for t in times if t is not None]
        return min(known) if len(known) == len(times) else advanced

    def _catch_up(self) -> None:
        """Tell what has happened before a command; queries that are added one after the other are born together."""
        due = self._feeder.due(self._now)
        if due or self._now > self.engine.now:
            self._process(due)

    def _process(self, events: Sequence[SourceEvent]) -> None:
        for query, gained in self.engine.process(self._feeder.batches(events), self._now).items():
            self._tell(query, gained)
