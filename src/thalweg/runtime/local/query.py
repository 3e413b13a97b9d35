"""A standing query of the local engine: what has changed, and what the answer is at any instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Literal

from thalweg.algebra.plan import Plan
from thalweg.core.errors import DataError
from thalweg.core.python_values import read_instant, show_instant, show_row
from thalweg.core.rows import Row, sorted_rows
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.explain import choice_json, choice_text, explain_json, explain_text, plans_text, seen_of
from thalweg.explain.choice import Seen
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.choice import choose
from thalweg.optimizer.optimize import Optimized
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import Pattern, annotate
from thalweg.runtime.local.fed_run import LocalRun
from thalweg.runtime.local.kernel_run import KernelRun
from thalweg.runtime.local.queued_run import QueuedRun
from thalweg.runtime.local.reference_run import ReferenceRun
from thalweg.runtime.local.streams import StreamClock
from thalweg.runtime.local.tables import TableLog, TableUpdate


class LocalQuery:
    """Made by `Session.query`. Its clock is the slowest of its streams' clocks, or where `advance` has brought it."""

    def __init__(
        self,
        plan: Plan,
        name: str,
        clocks: Mapping[str, StreamClock],
        tables: Mapping[str, TableLog],
        advanced: Callable[[], Instant | None],
        clock: Clock,
        strategy: str,
        settings: Settings,
        statistics: Statistics | None = None,
    ) -> None:
        self.plan = plan
        self.name = name
        self._clocks, self._tables, self._advanced = clocks, tables, advanced
        self.clock = clock
        self._told = False
        start = self.clock_now
        self._start = BEGINNING if start is None else start
        self.optimized: Optimized | None = None
        self._run = self._start_run(strategy, settings, statistics)
        self._first = start  # the first instant at which anything happened; what was there before shows then
        for table_name, table in tables.items():
            for update in table.updates:
                self.table_changed(table_name, update)

    def _start_run(self, strategy: str, settings: Settings, statistics: Statistics | None) -> LocalRun:
        if strategy == "reference":
            return ReferenceRun(self.plan, self._start)
        way = Strategy(strategy)
        if way.is_queued:
            return QueuedRun(self.plan, self._start, way, settings=settings)
        choice = choose(self.plan, way, settings, statistics)
        self.optimized = choice.optimized
        return KernelRun(choice.blueprint.plan, self._start, way, settings=choice.blueprint.settings)

    # -- what the session reports

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple has arrived on one of the session's streams."""
        if stream in self._clocks:
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
        if self._first is None or (t < self._first and not self._told):
            self._first = t

    def reads(self, name: str) -> bool:
        """Whether the query uses a stream or table."""
        return name in self._clocks or name in self._tables

    @property
    def clock_now(self) -> Instant | None:
        """Everything before this instant has been seen; None while a stream has shown nothing."""
        advanced = self._advanced()
        if not self._clocks:
            updates = [t.last for t in self._tables.values() if t.last > BEGINNING]
            return max([*updates, *([] if advanced is None else [advanced])], default=None)
        times = [c.now for c in self._clocks.values()]
        known = [t for t in times if t is not None]
        return min(known) if len(known) == len(times) else advanced

    # -- what users ask

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.plan.schema

    @property
    def now(self) -> Any:
        """The query's clock: an integer or a datetime; None before it has started."""
        now = self.clock_now
        return None if now is None else show_instant(self.clock, now)

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self.plan).edge.pattern

    def explain(self, format: Literal["text", "json"] = "text", analyze: bool = False, plans: bool = False) -> Any:
        """The plan with its update patterns, state buffers and bounds, then what is run and what that costs.

        With `analyze` what operators were seen to do stands beside the estimates; with `plans` all that were compared
        are shown. As text, or a dictionary for JSON.
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

    def _seen(self) -> dict[Plan, Seen]:
        """What each operator has done since the query began, up to now."""
        now = self.clock_now
        if now is None or not isinstance(self._run, KernelRun):
            return {}
        self._run.answer(now, now)
        began = self._first if self._first is not None else self._start
        return seen_of(self._run.places, self._run.metrics(), float(now - began))

    def metrics(self) -> list[dict[str, Any]]:
        """What each operator has done up to the last answer or changes asked for: tuples in and out by sign, state."""
        return [asdict(operator) for operator in self._run.metrics()]

    def delay(self) -> dict[str, float]:
        """How late the answer has followed arrivals and expirations, in ticks: average and maximum over all changes."""
        delay = self._run.delay
        return {"changes": delay.changes, "average": delay.average, "maximum": delay.maximum}

    def answer(self, at: Any = None) -> list[tuple[Any, ...]]:
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

    def drain(self) -> None:
        """Let every operator know the time: the input-triggered strategy, too, then shows the answer of now."""
        now = self.clock_now
        if now is not None and isinstance(self._run, QueuedRun):
            self._run.drain(now)

    def changes(self) -> list[tuple[Any, int, tuple[Any, ...]]]:
        """The signed rows `(t, +1 or -1, row)` since the last call; at one instant losses come before gains.

        Reading in the middle of an instant shows it as far as it is known; a later call corrects it.
        """
        now = self.clock_now
        if now is None or self._first is None or self._first > now:
            return []
        self._told = True
        changes = self._run.changes(now, self._first)
        return [(show_instant(self.clock, c.t), c.sign, show_row(self.schema, c.row)) for c in changes]

    def __repr__(self) -> str:
        return f"<query {self.name}: {self.patterns.name}, {', '.join(map(str, self.schema))}>"
