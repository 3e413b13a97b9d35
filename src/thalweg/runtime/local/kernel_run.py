"""A query run by the kernel: all events since the last question go through the pipeline as one batch."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.plan import Plan
from thalweg.core.time import Instant
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.runtime.local.fed_run import FedRun
from thalweg.runtime.local.feeder import SourceEvent

_EVERYTHING = 1 << 60


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
