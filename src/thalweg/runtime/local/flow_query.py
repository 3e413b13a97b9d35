"""A query of a flow, as its users see it: what has changed, and what the answer is at any instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thalweg.algebra.plan import RelationScan, StreamScan
from thalweg.core.batch import Batch
from thalweg.core.errors import DataError, NameNotFoundError, SuspendedError
from thalweg.core.python_values import read_instant, show_instant, show_row
from thalweg.core.rows import sorted_rows
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.flows.standing import Standing, Suspension
from thalweg.runtime.local.flow_run import FlowRun
from thalweg.runtime.local.outputs import OutputLog


@dataclass(frozen=True)
class FlowQueryInfo:
    """A query of a flow at a glance; `reason` says why it is suspended."""

    id: str
    name: str
    owner: str
    cql: str
    since: Any
    state: str
    reason: str | None
    seen: int
    results: int


class FlowQuery:
    """Made by `Flow.query`. Its clock is the flow's."""

    def __init__(self, run: FlowRun, standing: Standing, since: Instant | None) -> None:
        self.id, self.name, self.plan = standing.id, standing.name, standing.plan
        self.since = since  # None: the flow's clock had not started
        self._run = run
        self._log = OutputLog(standing.plan.schema, run.engine.pool)

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.plan.schema

    @property
    def clock(self) -> Clock:
        """The flow's."""
        return self._run.clock

    @property
    def now(self) -> Any:
        """The flow's clock: an integer or a datetime; None before it has started."""
        now = self._run.clock_now
        return None if now is None else show_instant(self.clock, now)

    def reads(self, name: str) -> bool:
        """Whether the query uses a stream or table."""
        return any(isinstance(p, StreamScan | RelationScan) and p.source.name == name for p in self.plan.walk())

    def settle(self) -> None:
        """Bring the flow to its clock; an error if this query does not run then."""
        self._run.settle()
        if self.id in self._run.engine.suspended:
            raise suspended(self.id, self._run.engine.suspended[self.id], self.clock)
        if self.id not in self._run.engine.standing:
            raise NameNotFoundError(f"the query {self.id} has been dropped", candidates=list(self._run.engine.standing))

    def gain(self, gained: Batch) -> None:
        """The flow tells what the answer has gained."""
        self._log.add(gained)

    def answer(self, at: Any = None) -> list[tuple[Any, ...]]:
        """The rows of the answer now, or at an instant since the query was added, each as often as it is in."""
        self.settle()
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
        self.settle()
        now, first = self._run.clock_now, self._run.first if self.since is None else self.since
        if now is None or first is None or first > now:
            return []
        self._run.told = True
        changes = self._log.changes(now, first)
        return [(show_instant(self.clock, c.t), c.sign, show_row(self.schema, c.row)) for c in changes]

    def __repr__(self) -> str:
        return f"<query {self.id} ({self.name}): {', '.join(map(str, self.schema))}>"


def suspended(query: str, why: Suspension, clock: Clock) -> SuspendedError:
    """The error for who asks a query that is suspended."""
    hint = why.hint or "drop it; what it gave until then is gone with it"
    return SuspendedError(f"the query {query} was suspended at {clock.show(why.at)}: {why.reason}", hint=hint)
