"""A flow's engine in a session: it takes all that happens up to the flow's clock (watermark)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from thalweg.core.batch import Batch
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.flows.engine import FlowEngine
from thalweg.flows.reach import streams_of
from thalweg.flows.standing import Standing
from thalweg.kernel.state.table import KeyTable
from thalweg.runtime.local.feeder import Feeder, SourceEvent
from thalweg.runtime.local.sources import Sources
from thalweg.runtime.local.tables import TableUpdate


class LocalFlowRun:
    """The flow's clock is the slowest of the streams that its queries read, and never goes back.

    While there are queries, tuples that arrive wait for that clock; a query that is added meanwhile will see them.
    """

    def __init__(
        self, sources: Sources, emit: Callable[[str, Batch], None], logs: Callable[[], Sequence[KeyTable]]
    ) -> None:
        """`emit` takes the id of a query and what its answer has gained; `logs` gives the rows that they keep."""
        self.engine = FlowEngine()
        self.first: Instant | None = None  # when anything happened first; what was there before shows then
        self.has_emitted = False  # whether the `changes` of any query were read
        self._sources, self._emit, self._logs = sources, emit, logs
        self._schemas: dict[str, Schema] = {}
        self._feeder = Feeder(self._schemas, self.engine.pool, False, BEGINNING)
        self._reached: Instant | None = None
        for name, table in sources.tables.items():
            for update in table.updates:
                self.table_changed(name, update)

    # -- queries

    def add(self, standing: Standing) -> Instant | None:
        """Add a query; the flow's clock then, None if it has not started."""
        # Without queries the flow has not followed the time.
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
        """Bring the engine to the clock."""
        if self.engine.standing:
            self._reach(self.clock_now)
            self._process(self._feeder.due(self._now))

    # -- what the session reports

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple; one behind the clock comes from a stream that no query has read so far."""
        if self.engine.standing and ts >= self._now:
            self._schemas.setdefault(stream, self._sources.clocks[stream].stream.schema)
            self.happened(ts)
            self._feeder.arrive(stream, ts, row)

    def table_changed(self, relation: str, update: TableUpdate) -> None:
        """A table has changed. Queries that are added later need its rows too."""
        if relation not in self._schemas:
            self._schemas[relation] = self._sources.tables[relation].relation.schema
            self.engine.know_tables(relation)
        if update.t > BEGINNING:
            self.happened(update.t)
        self._feeder.table_changed(relation, update.t, update.sign, update.row)

    def happened(self, t: Instant) -> None:
        """Something concerns the flow at `t`, if only that time was moved there."""
        if self.first is None or (t < self.first and not self.has_emitted):
            self.first = t

    def reads(self, name: str) -> bool:
        """Whether the flow needs a stream or table; it keeps the rows of all tables."""
        return name in self._sources.tables or name in self.engine.streams

    @property
    def clock(self) -> Clock:
        """Timestamps or ticks: as its queries read them, or else as the session does."""
        clocks = (standing.plan.clock for standing in self.engine.standing.values())
        return next((clock for clock in clocks if clock is not None), self._sources.clock)

    @property
    def clock_now(self) -> Instant | None:
        """The clock (watermark) in ticks: every query has seen all tuples before it."""
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
        return self._sources.watermark(streams, self._sources.tables, clock)

    def _catch_up(self) -> None:
        """Process all that happened before a command; queries added one after the other start as one cohort."""
        due = self._feeder.due(self._now)
        if due or self._now > self.engine.now:
            self._process(due)

    def _process(self, events: Sequence[SourceEvent]) -> None:
        self.engine.forget_strings(*self._logs())
        for query, gained in self.engine.process(self._feeder.batches(events), self._now).items():
            self._emit(query, gained)
