"""`tw.local()`: streams, tables and standing queries in this process, under a clock that you move."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.algebra.plan import Plan
from thalweg.core.errors import PlanError
from thalweg.core.python_values import RowLike, read_row, show_instant
from thalweg.core.rows import Row
from thalweg.cql import compile_script, register
from thalweg.flows.query_info import QueryInfo
from thalweg.fluent import Table
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import check
from thalweg.runtime.interface import Time, TimeLike
from thalweg.runtime.local.flow import LocalFlow
from thalweg.runtime.local.flow_run import LocalFlowRun
from thalweg.runtime.local.query import LocalQuery
from thalweg.runtime.local.sources import Sources
from thalweg.runtime.local.tables import TableLog
from thalweg.runtime.registry import QueryRegistry, name_all, plan_of, text_of

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

    def __init__(self, *, today: date | None = None) -> None:
        self._sources = Sources(today)
        self._queries: QueryRegistry[LocalQuery] = QueryRegistry()
        self._flows: dict[str, LocalFlow] = {}

    @property
    def catalog(self) -> Catalog:
        """The streams, tables, views and functions that queries may name."""
        return self._sources.catalog

    # -- queries

    def execute(
        self, cql: str, *, source: str = "query", strategy: str = "auto", settings: Settings | None = None
    ) -> list[LocalQuery]:
        """Run a script of CREATE and REGISTER statements and queries; return its queries.

        `source` is the script's name in errors. A script with a mistake leaves nothing behind.
        """
        _check_strategy(strategy)
        tried = self.catalog.copy()
        compiled = compile_script(cql, tried, source, self._sources.today)
        for query in compiled:
            check(query.plan)
            self._queries.free_name(query.name)
        self._sources.declare(tried)
        names = name_all([query.name for query in compiled], self._queries.names)
        named = zip(compiled, names, strict=True)
        return [self._register(query.plan, name, "", strategy, settings) for query, name in named]

    def query(
        self,
        query: str | Table | Plan,
        *,
        name: str | None = None,
        strategy: str = "auto",
        settings: Settings | None = None,
        statistics: Statistics | None = None,
    ) -> LocalQuery:
        """A standing query: CQL, a table built with `table(...)`, or a plan. It sees what arrives from now on.

        `auto` is the strategy to use. The others are there for comparison and give the same answers, except `ita`,
        which notices the end of a tuple only when another one comes through. `nt` announces every end by a negative
        tuple, `direct` none; `ita`, `nta`, `time-message` and `piggyback` run operators between queues, instant by
        instant; `reference` evaluates the definition. Only `auto` chooses among plans, by `statistics` and by what was
        declared about the sources; the others run the plan as written.
        """
        _check_strategy(strategy)
        plan = plan_of(query, self.catalog, self._sources.today)
        free = self._queries.free_name(name)
        return self._register(plan, free, text_of(query), strategy, settings, statistics)

    def _register(
        self,
        plan: Plan,
        name: str,
        cql: str,
        strategy: str,
        settings: Settings | None = None,
        statistics: Statistics | None = None,
    ) -> LocalQuery:
        made = LocalQuery(plan, name, cql, self._sources, strategy, settings or Settings(), statistics)
        return self._queries.add(made)

    def table(self, name: str) -> Table:
        """A stream, table or view, to build a query on in Python."""
        return Table.of(self.catalog, name, self._sources.today)

    def register(self, *functions: UserAggregate | UserFunction | type) -> None:  # a decorated class stays a class
        """Let queries call functions and aggregates of your own, made with `@function` and `@aggregate`."""
        for function in functions:
            register(self.catalog, function)

    def queries(self) -> list[QueryInfo]:
        """The queries that were made and not dropped, in order; flows list their own."""
        return [query.info for query in self._queries]

    def get_query(self, name: str) -> LocalQuery:
        """One of these queries."""
        return self._queries.get(name)

    def drop(self, query: LocalQuery | str) -> None:
        """End a query, given by its name or itself; the others go on."""
        self._queries.drop(query)

    def flow(self, name: str = "flow", *, folder: str | Path | None = None) -> LocalFlow:
        """The flow of that name: standing queries that share their work, and that come and go by id.

        With a `folder` its queries are written down there. A flow made again with the same folder has the same
        queries, which see what arrives from then on; what they had seen before is not kept.
        """
        if name not in self._flows:
            self._flows[name] = LocalFlow(name, self._sources, folder)
        elif folder is not None and not self._flows[name].lies_in(folder):
            raise PlanError(f"the flow {name} does not lie in {folder}", hint="take another name for another flow")
        return self._flows[name]

    # -- time and rows

    @property
    def now(self) -> Time | None:
        """The latest instant that a row has or that time was advanced to; None before that."""
        now = self._sources.now
        return None if now is None else show_instant(self._sources.clock, now)

    def push(self, stream: str, rows: Iterable[RowLike]) -> None:
        """Let rows arrive: `(ts, columns...)`, or just the columns if one of them is the timestamp.

        Rows behind the stream's clock (watermark) are refused, and all rows of the call with them; where the stream
        declares a lateness they are kept as late rows instead (see `late`).
        """
        clock, listeners = self._sources.stream(stream), self._listeners
        for ts, row in clock.take(rows):
            for listener in listeners:
                listener.arrive(clock.stream.name, ts, row)

    def advance(self, t: TimeLike) -> None:
        """Let time pass up to `t` on every stream, so that tuples expire whose time has come."""
        kind, instant = self._sources.advance(t)
        for listener in self._listeners:
            if listener.clock is kind:
                listener.happened(instant)

    def late(self, stream: str) -> list[tuple[Any, ...]]:
        """The rows of a stream that came too late, in order of arrival."""
        return self._sources.stream(stream).late_rows()

    # -- tables

    def insert(self, relation: str, rows: Iterable[RowLike], *, at: TimeLike | None = None) -> None:
        """Add rows to a relation or NRR, now or at an instant not behind the clock of any query that reads it."""
        self._change(relation, at, lambda table, t: table.insert(_rows(table, rows), t))

    def delete(self, relation: str, keys: Iterable[Any], *, at: TimeLike | None = None) -> None:
        """Remove rows by key (a value, or a tuple for a key of several columns)."""
        self._change(relation, at, lambda table, t: table.delete(list(keys), t))

    def update(self, relation: str, rows: Iterable[RowLike], *, at: TimeLike | None = None) -> None:
        """Replace the rows that have the same keys."""
        self._change(relation, at, lambda table, t: table.update(_rows(table, rows), t))

    def _change(self, relation: str, at: TimeLike | None, change: Any) -> None:
        table = self._sources.table(relation)
        clocks = [heard.clock_now for heard in self._listeners if heard.reads(table.relation.name)]
        t = self._sources.update_time(table, at, [c for c in clocks if c is not None])
        for updated in change(table, t):
            for listener in self._listeners:
                listener.table_changed(table.relation.name, updated)

    @property
    def _listeners(self) -> list[LocalQuery | LocalFlowRun]:
        return [*self._queries, *(flow.run for flow in self._flows.values())]

    def __repr__(self) -> str:
        sources = f"{len(self.catalog.streams)} streams, {len(self.catalog.relations)} tables"
        return (
            f"<session at {'the beginning' if self.now is None else self.now}: {sources}, {len(self._queries)} queries>"
        )


def _rows(table: TableLog, rows: Iterable[RowLike]) -> list[Row]:
    name, schema = table.relation.name, table.relation.schema
    return [read_row(schema, row, f"row {i} for {name}") for i, row in enumerate(rows)]


def _check_strategy(strategy: str) -> None:
    if strategy not in STRATEGIES:
        raise PlanError(f"there is no strategy {strategy!r}", candidates=STRATEGIES)
