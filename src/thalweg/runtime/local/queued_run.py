"""A query run by operators with queues between them, instant by instant: ITA, NTA, time-messages, piggybacking."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import numpy as np

from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.operators.expire import Expire
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.queued import Network
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.runtime.local.kernel_run import FedRun


class QueuedRun(FedRun):
    """The answer is what has come out of the last queue by an instant, with the delay that the strategy has.

    Windows are woken when a tuple of theirs ends, except under ITA, where only arrivals make anything happen: its
    answer is late, and is what the answer was when a tuple last came through (N2). Expirations at an instant come
    before its arrivals. `batch_size` cuts the arrivals of an instant into items.
    """

    def __init__(
        self,
        plan: Plan,
        start: Instant,
        strategy: Strategy,
        batch_size: int = 1,
        settings: Settings | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        super().__init__(plan, start, strategy, settings, tuning)
        self._batch_size, self._eager = batch_size, self._settings.eager
        self._wakes = strategy is not Strategy.ITA
        self._network = Network(self._pipeline, strategy, self._settings.make_scheduler())
        self._view = Expire(plan.schema)  # the view drops results by the last time-message, like any operator
        self._nothing = Batch.empty(plan.schema, self._pipeline.dated)
        self._show(self._network.begin(start - 1), start - 1)

    def heartbeat(self, now: Instant) -> None:
        """Tell every operator the time, so that ITA's answer, too, is the one of `now`."""
        self._settle(now)
        self._network.heartbeat(now)
        self._run(now)

    def restart(self, plan: Plan, strategy: Strategy) -> None:
        """Continue in a new network from a snapshot of this one; items may wait in its queues."""
        network, view = self._network.snapshot(), self._view.snapshot()
        self._rebuild(plan, strategy)
        self._network = Network(self._pipeline, strategy, self._settings.make_scheduler())
        self._network.restore(network)
        self._view = Expire(plan.schema)
        self._view.restore(view)

    def _settle(self, now: Instant) -> None:
        for t, events in groupby(self._feeder.due(now), lambda event: event.t):
            self._pipeline.forget_strings(self._network, self._view, self._log.keys)
            self._wake(t)
            waiting = list(events)
            for i in range(0, len(waiting), self._batch_size):
                self._network.arrive(self._feeder.batches(waiting[i : i + self._batch_size]), t)
            self._run(t)
        self._wake(now)

    def _wake(self, until: Instant) -> None:
        """Wake windows at each instant at which their tuples start or end, rounded up to the eager interval."""
        while self._wakes and (t := self._rounded(self._network.next_wake())) <= until:
            self._network.wake(t)
            self._run(t)

    def _rounded(self, t: Instant) -> Instant:
        return t if self._eager <= 1 else -(-t // self._eager) * self._eager

    def _run(self, now: Instant) -> None:
        """Work until all queues are empty; the system's time is `now`."""
        while self._work():
            pass
        out = self._network.out
        while len(out):
            item = out.take()
            output = self._nothing if item.batch is None else item.batch
            self._show(self._view.process([output], item.clock), now)

    def _work(self) -> bool:
        """One step of the scheduler; False if there is nothing to do."""
        return self._network.work()

    def _show(self, batch: Batch, now: Instant) -> None:
        self.delay.add(now - batch.start)
        self._log.add(replace(batch, start=np.maximum(batch.start, now)))
