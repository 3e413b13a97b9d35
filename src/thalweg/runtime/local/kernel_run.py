"""The interface of a query at work in a session, and the run that processes all events since the last question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

from thalweg.algebra.plan import Plan
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.time import Instant
from thalweg.kernel.pipeline import Settings, Strategy, build
from thalweg.kernel.pipeline.metrics import OperatorMetrics, OutputDelay
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.runtime.local.feeder import Feeder, SourceEvent
from thalweg.runtime.local.outputs import OutputLog

_EVERYTHING = 1 << 60


class LocalRun(Protocol):
    """A query at work: it takes all that happens, and gives answers up to its clock (watermark)."""

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple of a stream; in order of time unless the stream declares a lateness."""

    def table_changed(self, relation: str, t: Instant, sign: int, row: Row) -> None:
        """A table gains (+1) or loses (-1) a row at t."""

    def answer(self, t: Instant, now: Instant) -> Bag:
        """Q(t), for t up to the clock `now`."""

    def metrics(self) -> list[OperatorMetrics]:
        """What each operator has done, from the sources to the answer."""

    @property
    def waiting(self) -> int:
        """Tuples and updates that lie after the clock."""

    @property
    def delay(self) -> OutputDelay:
        """How late the answer has followed arrivals and expirations."""

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """What changed since the last call, up to and at `now`; nothing is dated before `first`."""


class FedRun(ABC):
    """Runs operators. Tuples after the clock wait until `_settle` brings the operators there; all output is kept."""

    def __init__(
        self, plan: Plan, start: Instant, strategy: Strategy, settings: Settings | None, tuning: Tuning = DEFAULT
    ) -> None:
        self._settings, self._tuning = settings or Settings(), tuning
        self._pipeline = build(plan, strategy, settings=self._settings, tuning=tuning)
        self._feeder = Feeder.of(self._pipeline, start)
        self._log = OutputLog(plan.schema, self._pipeline.pool)
        self.delay = OutputDelay()

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple waits until the query's clock has reached it."""
        self._feeder.arrive(stream, ts, row)

    def table_changed(self, relation: str, t: Instant, sign: int, row: Row) -> None:
        """An update waits likewise."""
        self._feeder.table_changed(relation, t, sign, row)

    def answer(self, t: Instant, now: Instant) -> Bag:
        """Q(t), from the intervals of all output so far."""
        self._settle(now)
        return self._log.answer(t)

    @property
    def places(self) -> Mapping[Plan, int]:
        """By sub-plan, the operator that gives its results."""
        return self._pipeline.places

    @property
    def waiting(self) -> int:
        """Tuples and updates that lie after the clock."""
        return len(self._feeder)

    def metrics(self) -> list[OperatorMetrics]:
        """What each operator has done."""
        return self._pipeline.measure()

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """The starts and ends of the output's intervals since the last call."""
        self._settle(now)
        return self._log.changes(now, first)

    def _rebuild(self, plan: Plan, strategy: Strategy) -> None:
        """Build a new pipeline, as after a crash; its state is to be restored."""
        self._pipeline = build(plan, strategy, settings=self._settings, tuning=self._tuning)
        self._log.pool = self._feeder.pool = self._pipeline.pool

    @abstractmethod
    def restart(self, plan: Plan, strategy: Strategy) -> None:
        """Continue in new operators from a snapshot of these, as after a crash."""

    @abstractmethod
    def _settle(self, now: Instant) -> None:
        """Bring the operators' clock to `now`."""


class KernelRun(FedRun):
    """`batch_size` cuts the input into batches of so many tuples, also within an instant; no answer depends on it."""

    def __init__(
        self,
        plan: Plan,
        start: Instant,
        strategy: Strategy,
        batch_size: int = _EVERYTHING,
        settings: Settings | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        super().__init__(plan, start, strategy, settings, tuning)
        self._batch_size = batch_size
        self._log.add(self._pipeline.begin(start - 1))

    def _settle(self, now: Instant) -> None:
        """Bring the pipeline's clock to `now`."""
        due = self._feeder.due(now)
        for i in range(0, len(due), self._batch_size):
            chunk = due[i : i + self._batch_size]
            last = i + self._batch_size >= len(due)
            self._step(chunk, now if last else chunk[-1].t)
        if not due:
            self._step([], now)

    def _step(self, events: Sequence[SourceEvent], now: Instant) -> None:
        self._pipeline.forget_strings(self._log.keys)
        output = self._pipeline.process(self._feeder.batches(events), now)
        self.delay.add(now - output.start)
        self._log.add(output)

    def restart(self, plan: Plan, strategy: Strategy) -> None:
        """Continue in a new pipeline from a snapshot of this one."""
        tree = self._pipeline.snapshot()
        self._rebuild(plan, strategy)
        self._pipeline.restore(tree)
