"""`session.flow(name)`: standing queries that share their work, added and dropped by id while tuples flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from thalweg.algebra.plan import Plan
from thalweg.core.errors import PlanError
from thalweg.core.python_values import show_instant
from thalweg.core.time import Instant
from thalweg.cql import compile_query
from thalweg.explain import choice_text, explain_text
from thalweg.flows.catalog import Catalogue
from thalweg.flows.command import DROP, Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.standing import Quotas, Standing
from thalweg.kernel.pipeline.choice import choose
from thalweg.patterns import check
from thalweg.runtime.local.flow_query import FlowQuery, FlowQueryInfo, suspended
from thalweg.runtime.local.flow_run import FlowRun, World

RUNNING, SUSPENDED = "running", "suspended"


class Flow:
    """Made by `Session.flow`. One pass over what arrives serves all its queries; equal parts of them run once.

    >>> import thalweg as tw
    >>> s = tw.local()
    >>> _ = s.execute("CREATE STREAM s (a INT)")
    >>> flow = s.flow("alerts")
    >>> high = flow.add("SELECT a FROM s WHERE a > 10", name="high")
    >>> s.push("s", [(1, 5), (2, 20)])
    >>> flow.answers(high)
    [(20,)]
    >>> flow.drop(high)
    """

    def __init__(self, name: str, world: World, folder: str | Path | None = None) -> None:
        self.name = name
        self.run = FlowRun(world, lambda query, gained: self._queries[query].gain(gained))
        self._world = world
        self._queries: dict[str, FlowQuery] = {}  # those that could be added
        self._catalogue = Catalogue(folder)
        self._obeyed = 0  # commands
        self.refresh()

    # -- commands

    def add(
        self,
        cql: str,
        name: str | None = None,
        owner: str | None = None,
        backfill: bool = False,
        *,
        results: int | None = None,
        results_per_second: int | None = None,
        state: int | None = None,
    ) -> str:
        """Let a query stand from now on; its id. It sees what arrives from now on; with `backfill` also what is held.

        `results`, `results_per_second` and `state` limit what it may give and hold (`Quotas`); a query beyond that, or
        one that raises, is suspended.
        """
        limits = Quotas(results, results_per_second, state).given()
        self.refresh()
        today = self._world.today()
        plan = self._compile(cql, today)
        command = self._catalogue.add(cql, name, owner, backfill, limits, today)
        self._obey_others(command.seq - 1)
        self._obeyed = command.seq
        try:
            self._start(command, plan)
        except Exception:
            self.drop(command.id)
            raise
        return command.id

    def drop(self, query: str) -> None:
        """End a query, by its id or its name; the others go on."""
        self._obey_others(self._catalogue.drop(query).seq)

    def refresh(self, accept: Callable[[Plan], None] = lambda plan: None) -> None:
        """Obey the commands that others have written into the flow's folder.

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

    def _compile(self, cql: str, today: Instant | None) -> Plan:
        plan = compile_query(cql, self._world.catalog, today=today)
        check(plan)
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
        self._queries[command.id] = FlowQuery(self.run, standing, since)

    def _start_again(self, command: Command, accept: Callable[[Plan], None]) -> None:
        """Somebody else has added the query, perhaps long ago: if it does not fit any more, that is no error here."""
        try:
            plan = self._compile(command.cql, command.today)
            accept(plan)
            self._start(command, plan)
        except Exception as error:  # whatever is wrong with it must not keep the others from standing
            self.run.engine.refuse(command.id, error)

    def _end(self, query: str) -> None:
        if query in self.run.engine.standing or query in self.run.engine.suspended:
            self.run.drop(query)
        self._queries.pop(query, None)

    # -- what users ask

    def queries(self) -> list[FlowQueryInfo]:
        """All queries of the flow, those that are suspended too, in the order in which they were added."""
        self.run.settle()
        return [self._info(command) for command in self._catalogue.live.values()]

    def query(self, query: str) -> FlowQuery:
        """A query by its id or name, to ask it again and again."""
        id_ = self._catalogue.find(query)
        if id_ not in self._queries:
            raise suspended(id_, self.run.engine.suspended[id_], self.run.clock)
        return self._queries[id_]

    def answers(self, query: str, at: Any = None) -> list[tuple[Any, ...]]:
        """The rows of a query's answer now, or at an instant since it was added."""
        return self.query(query).answer(at)

    def changes(self, query: str) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """The signed rows `(t, +1 or -1, row)` of a query since the last call."""
        return self.query(query).changes()

    def explain(self, query: str) -> str:
        """A query's plan with its patterns, what is run instead, and which operators it shares with how many others."""
        found = self.query(query)
        found.settle()
        chosen = choose(found.plan).optimized
        lines = [
            f"  {name}: {'its own' if users == 1 else f'shared by {users} queries'}"
            for name, users in self.run.engine.operators(found.id)
        ]
        shown = [explain_text(found.plan), *([] if chosen is None else [choice_text(chosen)])]
        return "\n".join([*(text.rstrip("\n") for text in shown), "OPERATORS", *lines]) + "\n"

    def top(self) -> dict[str, Any]:
        """What the flow's queries have seen, given and cost, for programs; see docs/flows.md for each number."""
        self.run.settle()
        engine, now = self.run.engine, self.run.clock_now
        by_id = {query: engine.metrics(query) for query in engine.standing}
        total = engine.total
        return {
            "flow": self.name,
            "now": None if now is None else self.run.clock.show(now),
            "seconds": total.seconds,
            "work": total.part,
            "saved": total.saved,
            "held": engine.held,
            "queries": [
                {"id": i.id, "name": i.name, "owner": i.owner, "state": i.state, "reason": i.reason, "seen": i.seen}
                | ({"results": i.results} if i.id not in by_id else _costs(by_id[i.id]))
                for i in self.queries()
            ],
        }

    def _info(self, command: Command) -> FlowQueryInfo:
        why, query = self.run.engine.suspended.get(command.id), self._queries.get(command.id)
        since = None if query is None or query.since is None else show_instant(self.run.clock, query.since)
        about = command.id, command.name, command.owner, command.cql, since
        if why is not None:
            return FlowQueryInfo(*about, SUSPENDED, why.reason, why.seen, why.results)
        metrics = self.run.engine.metrics(command.id)
        return FlowQueryInfo(*about, RUNNING, None, metrics.seen, metrics.results)

    def lies_in(self, folder: str | Path) -> bool:
        """Whether this is the flow's folder."""
        return self._catalogue.folder is not None and self._catalogue.folder.resolve() == Path(folder).resolve()

    def __repr__(self) -> str:
        return f"<flow {self.name}: {len(self._catalogue.live)} queries>"


def _costs(metrics: QueryMetrics) -> dict[str, Any]:
    """All but what stands there already."""
    return {name: value for name, value in metrics.shown().items() if name != "seen"}
