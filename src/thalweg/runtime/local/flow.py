"""`session.flow(name)`: standing queries that share their work, added and dropped by id while tuples flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from thalweg.algebra.plan import Plan
from thalweg.core.errors import PlanError
from thalweg.core.python_values import show_instant
from thalweg.core.time import Instant
from thalweg.flows.catalog import Catalogue
from thalweg.flows.command import DROP, Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.query_info import FlowMetrics, QueryInfo, QueryState
from thalweg.flows.standing import Quotas, Standing
from thalweg.fluent import Table
from thalweg.runtime.interface import ExplainFormat, Time, TimeLike
from thalweg.runtime.local.flow_query import LocalFlowQuery, suspended_error
from thalweg.runtime.local.flow_run import LocalFlowRun
from thalweg.runtime.local.sources import Sources
from thalweg.runtime.registry import plan_of, text_of


class LocalFlow:
    """Made by `Session.flow`. One pass over what arrives serves all its queries; equal parts of them run once.

    >>> import thalweg as tw
    >>> s = tw.local()
    >>> _ = s.execute("CREATE STREAM s (a INT)")
    >>> flow = s.flow("alerts")
    >>> high = flow.add("SELECT a FROM s WHERE a > 10", name="high")
    >>> s.push("s", [(1, 5), (2, 20)])
    >>> flow.answer(high)
    [(20,)]
    >>> flow.drop(high)
    """

    def __init__(self, name: str, sources: Sources, folder: str | Path | None = None) -> None:
        self.name = name
        self.run = LocalFlowRun(
            sources,
            lambda query, gained: self._queries[query].gain(gained),
            lambda: [query.log_keys for query in self._queries.values()],
        )
        self._sources = sources
        self._queries: dict[str, LocalFlowQuery] = {}  # those that could be added
        self._catalogue = Catalogue(folder)
        self._obeyed = 0  # commands
        self.refresh()

    @property
    def now(self) -> Time | None:
        """The flow's clock (watermark); None before it has started."""
        now = self.run.clock_now
        return None if now is None else show_instant(self.run.clock, now)

    # -- commands

    def add(
        self,
        query: str | Table | Plan,
        *,
        name: str | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> str:
        """Add a query and return its id. It sees the tuples that arrive from now on.

        With `backfill` it starts from the tuples that the flow holds: those within reach of other queries' windows.
        `quotas` limit `results`, `results_per_second` and `state` (see `Quotas`): a query that exceeds a quota, or
        raises an error, is suspended.
        """
        limits = Quotas.read(dict(quotas or {})).given()
        self.refresh()
        today = self._sources.today
        plan = self._plan(query, today)
        if not isinstance(query, str) and self._catalogue.folder is not None:
            raise PlanError(
                f"the flow {self.name} keeps its queries as CQL in {self._catalogue.folder}, and this one has no text",
                hint="write it in CQL, or make the flow without a folder",
            )
        command = self._catalogue.add(text_of(query), name, owner, backfill, limits, today)
        self._obey_others(command.seq - 1)
        self._obeyed = command.seq
        try:
            self._start(command, plan)
        except Exception:
            self.drop(command.id)
            raise
        return command.id

    def add_all(
        self,
        queries: Sequence[str | Table | Plan],
        *,
        names: Sequence[str] | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> list[str]:
        """Add several queries, which all begin with the same tuple; their ids. If one is refused, none is added."""
        added: list[str] = []
        try:
            for query, name in zip(queries, names or [""] * len(queries), strict=True):
                added.append(self.add(query, name=name, owner=owner, backfill=backfill, quotas=quotas))
        except Exception:
            for id_ in added:
                self.drop(id_)
            raise
        return added

    def drop(self, query: str) -> None:
        """End a query; the others go on."""
        self._obey_others(self._catalogue.drop(query).seq)

    def refresh(self, accept: Callable[[Plan], None] = lambda plan: None) -> None:
        """Obey the commands that other processes have written into the flow's folder.

        `accept` may raise an error for a plan that does not fit here; such a query is suspended.
        """
        self._catalogue.refresh()
        self._obey_others(None, accept)

    def _obey_others(self, until: int | None, accept: Callable[[Plan], None] = lambda plan: None) -> None:
        live = self._catalogue.live
        for command in self._catalogue.after(self._obeyed)[: None if until is None else until - self._obeyed]:
            self._obeyed = command.seq
            if command.command == DROP:
                self._end(command.id)
            elif command.id in live:
                self._start_again(command, accept)

    def _plan(self, query: str | Table | Plan, today: Instant | None) -> Plan:
        plan = plan_of(query, self._sources.catalog, today)
        if plan.clock not in (None, self.run.clock) and self.run.engine.standing:
            raise PlanError(
                f"the queries of the flow {self.name} go by {self.run.clock.value}, this one does not",
                hint="let it stand in another flow",
            )
        return plan

    def _start(self, command: Command, plan: Plan) -> None:
        quotas = Quotas.read(dict(command.quotas))
        standing = Standing(
            command.id, plan, command.cql, command.name, command.owner, backfill=command.backfill, quotas=quotas
        )
        since = self.run.add(standing)
        self._queries[command.id] = LocalFlowQuery(self.run, standing, since)

    def _start_again(self, command: Command, accept: Callable[[Plan], None]) -> None:
        """Add a query that another process added, perhaps long ago: one that no longer fits is suspended."""
        try:
            plan = self._plan(command.cql, command.today)
            accept(plan)
            self._start(command, plan)
        except Exception as error:  # one bad query must not keep the others from running
            self.run.engine.refuse(command.id, error)

    def _end(self, query: str) -> None:
        if query in self.run.engine.standing or query in self.run.engine.suspended:
            self.run.drop(query)
        self._queries.pop(query, None)

    # -- questions

    def queries(self) -> list[QueryInfo]:
        """All queries of the flow, suspended ones too, in the order in which they were added."""
        self.run.settle()
        return [self._info(command) for command in self._catalogue.live.values()]

    def get_query(self, query: str) -> LocalFlowQuery:
        """One query, to ask it again and again."""
        id_ = self._catalogue.find(query)
        if id_ not in self._queries:
            raise suspended_error(id_, self.run.engine.suspended[id_], self.run.clock)
        return self._queries[id_]

    def answer(self, query: str, at: TimeLike | None = None) -> list[tuple[Any, ...]]:
        """The answer of a query now, or at an instant since it was added."""
        return self.get_query(query).answer(at)

    def changes(self, query: str) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """The signed rows `(t, +1 or -1, row)` of a query since the last call."""
        return self.get_query(query).changes()

    def explain(self, query: str, *, format: ExplainFormat = "text") -> Any:
        """How a query runs, and which operators it shares with how many others."""
        return self.get_query(query).explain(format=format)

    def metrics(self) -> FlowMetrics:
        """What the queries have seen, given and cost; see docs/flows.md for each number."""
        queries, engine = tuple(self.queries()), self.run.engine
        total, held = engine.total, sum(engine.held.values())
        return FlowMetrics(self.name, self.now, total.seconds, total.part, total.saved, held, queries)

    def _info(self, command: Command) -> QueryInfo:
        why, query = self.run.engine.suspended.get(command.id), self._queries.get(command.id)
        metrics = self.run.engine.metrics(command.id) if why is None else QueryMetrics(why.seen, why.results)
        return QueryInfo(
            command.id, command.name, command.cql,
            state=QueryState.RUNNING if why is None else QueryState.SUSPENDED,
            reason=None if why is None else why.reason,
            since=None if query is None or query.since is None else show_instant(self.run.clock, query.since),
            owner=command.owner, quotas=Quotas.read(dict(command.quotas)), metrics=metrics,
        )  # fmt: skip

    def lies_in(self, folder: str | Path) -> bool:
        """Whether this is the flow's folder."""
        return self._catalogue.folder is not None and self._catalogue.folder.resolve() == Path(folder).resolve()

    def __repr__(self) -> str:
        return f"<flow {self.name}: {len(self._catalogue.live)} queries>"
