"""A standing query in this process: its changes, and its answer at any instant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thalweg.algebra.catalog import Relation, Stream
from thalweg.algebra.plan import Plan
from thalweg.core.errors import DataError
from thalweg.core.python_values import read_instant, show_instant, show_row
from thalweg.core.rows import Row, sorted_rows
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.explain import (
    OperatorMeasurement,
    choice_json,
    choice_text,
    explain_json,
    explain_text,
    measurements,
    plans_text,
)
from thalweg.flows.query_info import QueryInfo, QueryState
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.blueprint import choose
from thalweg.kernel.pipeline.metrics import OutputDelay
from thalweg.optimizer.optimize import Optimized
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import Pattern, annotate
from thalweg.runtime.interface import ExplainFormat, RunMetrics, Time, TimeLike
from thalweg.runtime.local.kernel_run import KernelRun, LocalRun
from thalweg.runtime.local.queued_run import QueuedRun
from thalweg.runtime.local.reference_run import ReferenceRun
from thalweg.runtime.local.sources import Sources
from thalweg.runtime.local.tables import TableUpdate


class LocalQuery:
    """Made by `Session.query`. Its clock (watermark) is the slowest of its streams' clocks."""

    def __init__(
        self,
        plan: Plan,
        name: str,
        cql: str,
        sources: Sources,
        strategy: str,
        settings: Settings,
        statistics: Statistics | None = None,
    ) -> None:
        self.name, self.plan, self._cql, self._sources = name, plan, cql, sources
        read = {leaf.source.name: leaf.source for leaf in plan.walk() if hasattr(leaf, "source")}
        self._streams = [name for name, source in read.items() if isinstance(source, Stream)]
        self._tables = [name for name, source in read.items() if isinstance(source, Relation)]
        self.clock: Clock = plan.clock or sources.clock
        start = self.clock_now
        self._start = BEGINNING if start is None else start
        self._first = start  # the first instant at which anything happened; what was there before shows then
        self._has_emitted = False  # whether `changes` has given any
        self.optimized: Optimized | None = None
        self._run = self._start_run(strategy, settings, statistics)
        for table in self._tables:
            for update in sources.tables[table].updates:
                self.table_changed(table, update)

    def _start_run(self, strategy: str, settings: Settings, statistics: Statistics | None) -> LocalRun:
        if strategy == "reference":
            return ReferenceRun(self.plan, self._start)
        chosen = Strategy(strategy)
        if chosen.is_queued:
            return QueuedRun(self.plan, self._start, chosen, settings=settings)
        choice = choose(self.plan, chosen, settings, statistics)
        self.optimized = choice.optimized
        return KernelRun(choice.blueprint.plan, self._start, chosen, settings=choice.blueprint.settings)

    # -- called by the session

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple has arrived on one of the session's streams."""
        if stream in self._streams:
            self.happened(ts)
            self._run.arrive(stream, ts, row)

    def table_changed(self, relation: str, update: TableUpdate) -> None:
        """A table of the session has changed."""
        if relation in self._tables:
            if update.t > BEGINNING:
                self.happened(update.t)
            self._run.table_changed(relation, update.t, update.sign, update.row)

    def happened(self, t: Instant) -> None:
        """Something concerns the query at `t`, if only that time was moved there."""
        if self._first is None or (t < self._first and not self._has_emitted):
            self._first = t

    @property
    def clock_now(self) -> Instant | None:
        """The clock (watermark) in ticks: all rows before it have come; None while a stream has shown nothing."""
        return self._sources.watermark(self._streams, self._tables, self.clock)

    @property
    def info(self) -> QueryInfo:
        """For `Session.queries`."""
        since = None if self._start == BEGINNING else show_instant(self.clock, self._start)
        return QueryInfo(self.name, self.name, self._cql, QueryState.RUNNING, since=since)

    # -- called by users

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.plan.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self.plan).edge.pattern

    @property
    def now(self) -> Time | None:
        """The clock (watermark): the answer is known up to here; None before it has started."""
        now = self.clock_now
        return None if now is None else show_instant(self.clock, now)

    def reads(self, name: str) -> bool:
        """Whether the query reads a stream or table."""
        return name in self._streams or name in self._tables

    def answer(self, at: TimeLike | None = None) -> list[tuple[Any, ...]]:
        """The rows of the answer now, or at an instant that has passed, each as often as it is in."""
        now = self.clock_now
        t = now if at is None else read_instant(self.clock, at, "answer")
        if t is None:
            t = BEGINNING
        if at is not None and t < self._start:
            raise DataError(
                f"the query sees what happened from {self.clock.show(self._start)} on, not at {self.clock.show(t)}",
                hint="it was registered then",
            )
        if at is not None and (now is None or t > now):
            shown = "not started" if now is None else f"at {self.clock.show(now)}"
            raise DataError(
                f"the answer at {self.clock.show(t)} is not known yet: the clock is {shown}", hint="advance(t) first"
            )
        bag = self._run.answer(t, t if now is None else now)
        return [show_row(self.schema, row) for row in sorted_rows(bag)]

    def changes(self) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """The signed rows `(t, +1 or -1, row)` since the last call; at one instant losses come before gains.

        Reading in the middle of an instant shows it as far as it is known; a later call corrects it.
        """
        now = self.clock_now
        if now is None or self._first is None or self._first > now:
            return []
        self._has_emitted = True
        changes = self._run.changes(now, self._first)
        return [(show_instant(self.clock, c.t), c.sign, show_row(self.schema, c.row)) for c in changes]

    def explain(self, *, format: ExplainFormat = "text", analyze: bool = False, plans: bool = False) -> Any:
        """The plan with its update patterns, state and bounds, then the plan that is run and its costs.

        With `analyze`, measurements of the operators stand beside the estimates; with `plans`, all plans that were
        compared are shown. The result is text, or a dictionary for JSON.
        """
        if format not in ("text", "json"):
            raise DataError(f"EXPLAIN has no format {format!r}", candidates=("text", "json"))
        found = self.optimized
        if found is None:
            return explain_json(self.plan) if format == "json" else explain_text(self.plan)
        seen = self._seen() if analyze else None
        if format == "json":
            return {**explain_json(self.plan), "choice": choice_json(found, seen)}
        chosen = plans_text(found) if plans else choice_text(found, seen)
        return f"{explain_text(self.plan)}\n{chosen}"

    def _seen(self) -> dict[Plan, OperatorMeasurement]:
        """What each operator has done since the query began, up to now."""
        now = self.clock_now
        if now is None or not isinstance(self._run, KernelRun):
            return {}
        self._run.answer(now, now)
        began = self._first if self._first is not None else self._start
        return measurements(self._run.places, self._run.metrics(), float(now - began))

    def metrics(self) -> RunMetrics:
        """Counts up to the last call of `answer` or `changes`: tuples held, waiting and late, each operator's work."""
        operators = tuple(replace(operator) for operator in self._run.metrics())
        late = {name: len(self._sources.clocks[name].late) for name in self._streams}
        return RunMetrics(
            now=self.now, stored=sum(operator.stored for operator in operators), waiting=self._run.waiting,
            late={name: count for name, count in late.items() if count}, operators=operators,
        )  # fmt: skip

    def delay(self) -> OutputDelay:
        """How late the answer has followed arrivals and expirations, in ticks, over all changes."""
        return replace(self._run.delay)

    def heartbeat(self) -> None:
        """Tell every operator the time: then the input-triggered strategy, too, shows the answer of now."""
        now = self.clock_now
        if now is not None and isinstance(self._run, QueuedRun):
            self._run.heartbeat(now)

    def __repr__(self) -> str:
        return f"<query {self.name}: {self.patterns.name}, {', '.join(map(str, self.schema))}>"
