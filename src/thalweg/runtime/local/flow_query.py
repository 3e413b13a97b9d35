"""A query of a flow in this process: its changes, and its answer at any instant."""

from __future__ import annotations

from typing import Any

from thalweg.algebra.plan import RelationScan, StreamScan
from thalweg.core.batch import Batch
from thalweg.core.errors import DataError, NameNotFoundError, SuspendedError
from thalweg.core.python_values import read_instant, show_instant, show_row
from thalweg.core.rows import sorted_rows
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.explain import choice_json, choice_text, explain_json, explain_text
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.standing import Standing, Suspension
from thalweg.kernel.pipeline.blueprint import choose
from thalweg.kernel.state.table import KeyTable
from thalweg.patterns import Pattern, annotate
from thalweg.runtime.interface import ExplainFormat, Time, TimeLike
from thalweg.runtime.local.flow_run import LocalFlowRun
from thalweg.runtime.local.outputs import OutputLog


class LocalFlowQuery:
    """Made by `LocalFlow.get_query`. Its clock is the flow's."""

    def __init__(self, run: LocalFlowRun, standing: Standing, since: Instant | None) -> None:
        self.id, self.name, self.plan = standing.id, standing.name, standing.plan
        self.since = since  # None: the flow's clock had not started
        self._run = run
        self._log = OutputLog(standing.plan.schema, run.engine.pool)

    @property
    def log_keys(self) -> KeyTable:
        """The rows that it remembers, by code."""
        return self._log.keys

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.plan.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self.plan).edge.pattern

    @property
    def clock(self) -> Clock:
        """Whether time is timestamps or ticks."""
        return self._run.clock

    @property
    def now(self) -> Time | None:
        """The flow's clock (watermark): the answer is known up to here; None before it has started."""
        now = self._run.clock_now
        return None if now is None else show_instant(self.clock, now)

    def reads(self, name: str) -> bool:
        """Whether the query reads a stream or table."""
        return any(isinstance(p, StreamScan | RelationScan) and p.source.name == name for p in self.plan.walk())

    def gain(self, gained: Batch) -> None:
        """Called by the flow: the answer has gained this."""
        self._log.add(gained)

    def answer(self, at: TimeLike | None = None) -> list[tuple[Any, ...]]:
        """The rows of the answer now, or at an instant since the query was added, each as often as it is in."""
        self._settle()
        now, shown = self._run.clock_now, self.clock.show
        since = BEGINNING if self.since is None else self.since
        t = now if at is None else read_instant(self.clock, at, "answer")
        if t is None:
            t = BEGINNING
        if t < since:
            raise DataError(f"{self.id} was added at {shown(since)}, so it has no answer at {shown(t)}")
        if at is not None and (now is None or t > now):
            stands = "not started" if now is None else f"at {shown(now)}"
            raise DataError(
                f"the answer at {shown(t)} is not known yet: the flow's clock is {stands}", hint="advance(t) first"
            )
        return [show_row(self.schema, row) for row in sorted_rows(self._log.answer(t))]

    def changes(self) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """The signed rows `(t, +1 or -1, row)` since the last call; at one instant losses come before gains."""
        self._settle()
        now, first = self._run.clock_now, self._run.first if self.since is None else self.since
        if now is None or first is None or first > now:
            return []
        self._run.has_emitted = True
        changes = self._log.changes(now, first)
        return [(show_instant(self.clock, c.t), c.sign, show_row(self.schema, c.row)) for c in changes]

    def explain(self, *, format: ExplainFormat = "text") -> Any:
        """The plan with its update patterns, the plan that is run, and which operators it shares with how many."""
        self._settle()
        chosen, operators = choose(self.plan).optimized, self._run.engine.operators(self.id)
        if format == "json":
            choice = {} if chosen is None else {"choice": choice_json(chosen)}
            shared = [{"operator": name, "queries": users} for name, users in operators]
            return {**explain_json(self.plan), **choice, "operators": shared}
        shown = [explain_text(self.plan), *([] if chosen is None else [choice_text(chosen)])]
        lines = [f"  {name}: {'its own' if users == 1 else f'shared by {users} queries'}" for name, users in operators]
        return "\n".join([*(text.rstrip("\n") for text in shown), "OPERATORS", *lines]) + "\n"

    def metrics(self) -> QueryMetrics:
        """Tuples seen, results given, and the query's part of the flow's cost."""
        self._run.settle()
        why = self._run.engine.suspended.get(self.id)
        return self._run.engine.metrics(self.id) if why is None else QueryMetrics(why.seen, why.results)

    def _settle(self) -> None:
        """Bring the flow to its clock; an error if this query does not run then."""
        self._run.settle()
        if self.id in self._run.engine.suspended:
            raise suspended_error(self.id, self._run.engine.suspended[self.id], self.clock)
        if self.id not in self._run.engine.standing:
            raise NameNotFoundError(f"the query {self.id} has been dropped", candidates=list(self._run.engine.standing))

    def __repr__(self) -> str:
        return f"<query {self.id} ({self.name}): {', '.join(map(str, self.schema))}>"


def suspended_error(query: str, why: Suspension, clock: Clock) -> SuspendedError:
    """The error for a call to a query that is suspended."""
    hint = why.hint or "drop it; its results until then are gone"
    return SuspendedError(f"the query {query} was suspended at {clock.show(why.at)}: {why.reason}", hint=hint)
