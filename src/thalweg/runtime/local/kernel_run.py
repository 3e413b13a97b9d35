"""A query run by the kernel: what happened since the last question goes through the pipeline as a batch."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.plan import Plan
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.time import Instant
from thalweg.planner import Settings, Strategy, build
from thalweg.planner.metrics import OperatorMetrics, OutputDelay
from thalweg.runtime.local.feeder import Event, Feeder
from thalweg.runtime.local.outputs import OutputLog

_EVERYTHING = 1 << 60


class KernelRun:
    """Holds back what lies after the clock, feeds the rest, and keeps all output, so that the past can be asked for.

    `batch_size` cuts the input into batches of so many tuples, also within an instant; no answer depends on it.
    """

    def __init__(
        self,
        plan: Plan,
        start: Instant,
        strategy: Strategy,
        batch_size: int = _EVERYTHING,
        settings: Settings | None = None,
    ) -> None:
        self._settings = settings or Settings()
        self._pipeline = build(plan, strategy, settings=self._settings)
        self._batch_size = batch_size
        self._feeder = Feeder(self._pipeline, start)
        self._log = OutputLog(plan.schema, self._pipeline.pool)
        self._log.add(self._pipeline.begin(start - 1))
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

    def metrics(self) -> list[OperatorMetrics]:
        """What each operator has done."""
        return self._pipeline.measure()

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """What the output's intervals begin and end since the last call."""
        self._settle(now)
        return self._log.changes(now, first)

    def _settle(self, now: Instant) -> None:
        """Bring the pipeline's clock to `now`."""
        due = self._feeder.due(now)
        for i in range(0, len(due), self._batch_size):
            chunk = due[i : i + self._batch_size]
            last = i + self._batch_size >= len(due)
            self._step(chunk, now if last else chunk[-1].t)
        if not due:
            self._step([], now)

    def _step(self, events: Sequence[Event], now: Instant) -> None:
        output = self._pipeline.process(self._feeder.batches(events), now)
        self.delay.add(now - output.start)
        self._log.add(output)

    def restart(self, plan: Plan, strategy: Strategy) -> None:
        """Go on in a pipeline built anew, from a snapshot of this one: as after a crash, with nothing lost."""
        fresh = build(plan, strategy, settings=self._settings)
        fresh.restore(self._pipeline.snapshot())
        self._pipeline = fresh
        self._log.pool = self._feeder.pool = fresh.pool
