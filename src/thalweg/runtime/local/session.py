"""`tw.local()`: streams, tables and standing queries in this process, under a clock that you move."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from itertools import count
from pathlib import Path
from typing import Any

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.algebra.plan import Plan
from thalweg.core.errors import DataError, OutOfOrderError, PlanError
from thalweg.core.python_values import RowLike, read_instant, read_row, show_row
from thalweg.core.rows import Row
from thalweg.core.time import BEGINNING, DAY, Clock, Instant, from_datetime
from thalweg.cql import compile_query, compile_script, register
from thalweg.fluent import Table
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import check
from thalweg.runtime.local.flow import Flow
from thalweg.runtime.local.flow_run import FlowRun, World
from thalweg.runtime.local.query import LocalQuery
from thalweg.runtime.local.streams import StreamClock, check_order, read_arrival
from thalweg.runtime.local.tables import TableLog

STRATEGIES = ("reference", *(strategy.value for strategy in Strategy))


class Session:
    """An engine for tests, notebooks and teaching. Nothing runs by itself: `push` and `advance` move time.

    >>> import thalweg as tw
    >>> s = tw.local()
    >>> _ = s.execute("CREATE STREAM s (a INT)")
    >>> q = s.query("SELECT a FROM s [RANGE 2]")
    >>> s.push("s", [(1, 10), (2, 20)])
    >>> s.advance(3)
    >>> q.changes()
    [(1, 1, (10,)), (2, 1, (20,)), (3, -1, (10,))]
    """

    def __init__(self, today: date | None = None) -> None:
        self.catalog = Catalog()
        self._day = None if today is None else from_datetime(datetime.combine(today, time()))
        self.queries: list[LocalQuery] = []
        self._clocks: dict[str, StreamClock] = {}
        self._tables: dict[str, TableLog] = {}
        self._advanced: dict[Clock, Instant] = {}  # streams that tick and streams with timestamps know apart
        self._flows: dict[str, Flow] = {}

    # -- declaring

    def execute(
        self, cql: str, name: str = "query", strategy: str = "auto", settings: Settings | None = None
    ) -> list[LocalQuery]:
        """Run a script: CREATE and REGISTER statements and queries; the queries it registered."""
        _check_strategy(strategy)
        tried = self.catalog.copy()  # a script with a mistake leaves nothing behind
        compiled = compile_script(cql, tried, name, self._today())
        for query in compiled:
            check(query.plan)
        self.catalog.adopt(tried)
        self._meet_new_sources()
        names = name_all([query.name for query in compiled], [query.name for query in self.queries])
        named = zip(compiled, names, strict=True)
        return [self._register(query.plan, name, strategy, settings) for query, name in named]

    def query(
        self,
        query: str | Table,
        strategy: str = "auto",
        name: str | None = None,
        settings: Settings | None = None,
        statistics: Statistics | None = None,
    ) -> LocalQuery:
        """Register a standing query, in CQL or built with `table(...)`. It sees what arrives from now on.

        `auto` is what you want. The others are there for comparison, and give the same answers (but for `ita`, which
        notices the end of a tuple only when another one comes through): `nt` tells every end by a negative tuple,
        `direct` none; `ita`, `nta`, `time-message` and `piggyback` run operators between queues, instant by instant;
        `reference` evaluates literally. Only `auto` chooses a plan, by what is known of the sources (`statistics`, and
        what their declarations say); the others run it as written.
        """
        _check_strategy(strategy)
        if isinstance(query, Table):
            query.require(self.catalog)
        plan = query.plan if isinstance(query, Table) else compile_query(query, self.catalog, today=self._today())
        check(plan)
        names = [q.name for q in self.queries]
        if name and name.casefold() in map(str.casefold, names):
            raise PlanError(f"there is a query called {name} already", hint="drop(name) ends it")
        return self._register(plan, name or name_all([None], names)[0], strategy, settings, statistics)

    def register(self, *given: UserAggregate | UserFunction | type) -> None:  # a decorated class stays a class
        """Let queries call functions and aggregates of your own, made with `@function` and `@aggregate`, by name."""
        for each in given:
            register(self.catalog, each)

    def drop(self, query: LocalQuery | str) -> None:
        """End a query; the others go on."""
        found = [q for q in self.queries if q is query or q.name == query]
        if not found:
            raise PlanError(f"there is no query {query}", candidates=[q.name for q in self.queries])
        self.queries.remove(found[0])

    def flow(self, name: str = "flow", folder: str | Path | None = None) -> Flow:
        """The flow called so: standing queries that share their work, and that come and go by id.

        With a `folder` its queries are written down there, and stand again when the folder is given again, from then
        on; what they had seen is not kept.
        """
        if name not in self._flows:
            world = World(self.catalog, self._clocks, self._tables, self._advanced, self._clock, self._today)
            self._flows[name] = Flow(name, world, folder)
        elif folder is not None and not self._flows[name].lies_in(folder):
            raise PlanError(f"the flow {name} does not lie in {folder}", hint="take another name for another flow")
        return self._flows[name]

    def table(self, name: str) -> Table:
        """A stream, relation or view, to build a query on in Python."""
        return Table.of(self.catalog, name, self._today())

    def _register(
        self,
        plan: Plan,
        name: str,
        strategy: str = "auto",
        settings: Settings | None = None,
        statistics: Statistics | None = None,
    ) -> LocalQuery:
        clocks = {s.name: self._clocks[s.name] for s in _streams(plan)}
        tables = {r.name: self._tables[r.name] for r in _relations(plan)}
        clock = plan.clock or self._clock()
        query = LocalQuery(
            plan, name, clocks, tables, lambda: self._advanced.get(clock), clock, strategy, settings or Settings(),
            statistics,
        )  # fmt: skip
        self.queries.append(query)
        return query

    def _meet_new_sources(self) -> None:
        for stream in self.catalog.streams:
            clock = self._clocks.setdefault(stream.name, StreamClock(stream))
            if stream.clock in self._advanced:
                clock.advance(self._advanced[stream.clock])
        for relation in self.catalog.relations:
            self._tables.setdefault(relation.name, TableLog(relation))

    # -- time and data

    @property
    def now(self) -> Instant | None:
        """The latest instant anything has been pushed with or advanced to; None before that."""
        seen = [c.now + (c.stream.lateness or 0) for c in self._clocks.values() if c.now is not None]
        return max([*seen, *self._advanced.values()], default=None)

    def push(self, stream: str, rows: Iterable[RowLike]) -> None:
        """Let rows arrive: `(ts, columns...)`, or just the columns if one of them is the timestamp.

        Rows behind the stream's clock are refused, all rows of the call with them; where the stream declares a
        lateness they are kept aside instead (see `late`).
        """
        entry = self._stream(stream)
        clock = self._clocks[entry.name]
        read = [read_arrival(entry, row, i) for i, row in enumerate(rows)]
        if entry.lateness is None:
            check_order(clock, read)
        listeners = self._listeners
        for ts, row in read:
            if not clock.accepts(ts):
                clock.keep_late(row if entry.timestamp is not None else (ts, *row))
                continue
            clock.see(ts)
            for listener in listeners:
                listener.arrive(entry.name, ts, row)

    def advance(self, t: Any) -> None:
        """Let time pass up to `t` on every stream, so that what should expire does."""
        stamped = any(stream.clock is Clock.TIMESTAMPS for stream in self.catalog.streams)
        kind = Clock.TIMESTAMPS if stamped and not isinstance(t, int) else self._clock()
        instant = read_instant(kind, t, "advance")
        if instant < self._advanced.get(kind, instant):
            at, back = kind.show(self._advanced[kind]), kind.show(instant)
            raise OutOfOrderError(f"time is at {at} and cannot go back to {back}")
        self._advanced[kind] = instant
        for clock in self._clocks.values():
            if clock.stream.clock is kind:
                clock.advance(instant)
        for listener in self._listeners:
            if listener.clock is kind:
                listener.happened(instant)

    def late(self, stream: str) -> list[tuple[Any, ...]]:
        """The rows of a stream that came too late, in order of arrival."""
        entry = self._stream(stream)
        rows = self._clocks[entry.name].late
        return [show_row(entry.schema, row) if entry.timestamp is not None else row for row in rows]

    # -- tables

    def insert(self, relation: str, rows: Iterable[RowLike], at: Any = None) -> None:
        """Add rows to a relation or NRR, now or at a given instant not behind any query's clock."""
        self._change(relation, at, lambda table, t: table.insert(self._rows(table, rows), t))

    def delete(self, relation: str, keys: Iterable[Any], at: Any = None) -> None:
        """Remove rows by key (a value, or a tuple for a key of several columns)."""
        self._change(relation, at, lambda table, t: table.delete(list(keys), t))

    def update(self, relation: str, rows: Iterable[RowLike], at: Any = None) -> None:
        """Replace the rows that have the same keys."""
        self._change(relation, at, lambda table, t: table.update(self._rows(table, rows), t))

    def _change(self, relation: str, at: Any, change: Any) -> None:
        entry = self.catalog.get(relation)
        if not isinstance(entry, Relation):
            raise DataError(f"{entry.name} is not a relation", candidates=[r.name for r in self.catalog.relations])
        table = self._tables[entry.name]
        t = self._update_time(table, at)
        for updated in change(table, t):
            for listener in self._listeners:
                listener.table_changed(entry.name, updated)

    def _update_time(self, table: TableLog, at: Any) -> Instant:
        shown = self._clock().show
        if at is None:
            return BEGINNING if self.now is None else max(self.now, table.last)
        t = read_instant(self._clock(), at, f"update of {table.relation.name}")
        clocks = [heard.clock_now for heard in self._listeners if heard.reads(table.relation.name)]
        behind = max([table.last, *(c for c in clocks if c is not None)])
        if t < behind:
            raise OutOfOrderError(
                f"{table.relation.name} cannot change at {shown(t)}: time has come to {shown(behind)}",
                hint="leave `at` out to change it now",
            )
        return t

    # -- details

    @property
    def _listeners(self) -> list[LocalQuery | FlowRun]:
        return [*self.queries, *(flow.run for flow in self._flows.values())]

    def _rows(self, table: TableLog, rows: Iterable[RowLike]) -> list[Row]:
        name, schema = table.relation.name, table.relation.schema
        return [read_row(schema, row, f"row {i} for {name}") for i, row in enumerate(rows)]

    def _stream(self, name: str) -> Stream:
        entry = self.catalog.get(name)
        if not isinstance(entry, Stream):
            raise DataError(f"{entry.name} is not a stream", candidates=[s.name for s in self.catalog.streams])
        return entry

    def _clock(self) -> Clock:
        clocks = {s.clock for s in self.catalog.streams}
        return Clock.TIMESTAMPS if clocks == {Clock.TIMESTAMPS} else Clock.TICKS

    def _today(self) -> Instant | None:
        now = self.now
        return self._day if now is None or self._clock() is Clock.TICKS else now - now % DAY


def name_all(given: Sequence[str | None], taken: Sequence[str] = ()) -> list[str]:
    """Names for queries: those without one are called q1, q2, ... by their place, or later if that is taken."""
    used = {name.casefold() for name in [*given, *taken] if name}
    names: list[str] = []
    for place, name in enumerate(given, start=len(taken) + 1):
        names.append(name or next(q for i in count(place) if (q := f"q{i}") not in used))
        used.add(names[-1])
    return names


def _check_strategy(strategy: str) -> None:
    if strategy not in STRATEGIES:
        raise PlanError(f"there is no strategy {strategy!r}", candidates=STRATEGIES)


def _streams(plan: Plan) -> list[Stream]:
    return list({s.name: s for p in plan.walk() if isinstance(s := getattr(p, "source", None), Stream)}.values())


def _relations(plan: Plan) -> list[Relation]:
    return list({r.name: r for p in plan.walk() if isinstance(r := getattr(p, "source", None), Relation)}.values())
