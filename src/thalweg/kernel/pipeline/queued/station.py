"""An operator at work between its queues, with a clock of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.pipeline.pipeline import Node
from thalweg.kernel.pipeline.queued.counts import ReferenceCounts
from thalweg.kernel.pipeline.queued.queue import Item, Queue
from thalweg.kernel.state.snapshot import Stateful


class Station(Stateful, kind="station/1"):
    """Takes items, runs the operator at their clock, and puts what it gives into the queues of its consumers.

    Its clock is that of the items it has taken and nothing else: never that of the system (N8). A station with several
    inputs takes an instant from all of them at once, and only when nothing older can come from below.
    """

    KEPT = ("clock", "_reference_counts", "queues")  # what the operator keeps is the pipeline's

    def __init__(
        self,
        node: Node,
        metrics: OperatorMetrics,
        below: Sequence[Station],
        nothing: Batch,
        messages: bool,
        late: bool,
    ) -> None:
        assert node.operator is not None
        self._node, self._operator, self._metrics = node, node.operator, metrics
        self._below = tuple(below)  # the stations that feed it; a source feeds its queue from outside
        self._nothing = nothing
        self._empty = [nothing] * len(node.inputs)
        self.queues: list[Queue] = []  # one per input, then that of wake-ups
        self.consumers: list[Queue] = []
        self._reference_counts = ReferenceCounts() if messages else None
        self._late = late  # ITA: what an input tells late counts from when it is told
        self.clock: Instant = BEGINNING
        self.wakes_up = node.wakes or node.announces

    def expect(self, empty: Sequence[Batch]) -> None:
        """What each input looks like when it has nothing."""
        self._empty = list(empty)

    # -- time

    def next_wake(self) -> Instant:
        """When it wants to be woken: something below it in time only, never below it in the plan, is due."""
        due = self._operator.next_wake if self._node.wakes else FOREVER
        announced = (
            self._reference_counts.first() if self._reference_counts is not None and self._node.announces else FOREVER
        )
        return min(due, announced)

    def pending(self) -> Instant:
        """The clock of the oldest item that waits here or anywhere below; FOREVER if none does."""
        return min([queue.clock for queue in self.queues] + [station.pending() for station in self._below])

    def ready(self) -> bool:
        """Whether it can take something: there is an item, and nothing as old may still come from below."""
        clock = min(queue.clock for queue in self.queues)
        if clock == FOREVER:
            return False
        alone = len(self.queues) == 1
        return alone or all(station.pending() > clock for station in self._below)

    # -- work

    def begin(self, before: Instant, inputs: Sequence[Batch]) -> Batch:
        """The output over nothing, just before anything can happen."""
        self.clock = before
        result = self._operator.process(inputs, before)
        if self._reference_counts is not None:
            self._reference_counts.add(result)
        return self._nothing if self._node.tells_changes else result

    def run(self) -> None:
        """Take the next item, or the next instant of several inputs, and pass on what comes of it."""
        if len(self.queues) == 1:
            taken = [[self.queues[0].take()]]
            clock = taken[0][0].clock
        else:
            clock = min(queue.clock for queue in self.queues)
            taken = [queue.take_at(clock) for queue in self.queues]
        before, self.clock = self.clock, max(self.clock, clock)
        inputs = [_joined(items, empty) for items, empty in zip(taken, self._empty, strict=False)]
        if self._late:
            inputs = [batch.between(np.maximum(batch.start, before), batch.end) for batch in inputs]
        result = self._operator.process(inputs, self.clock)
        flagged = any(item.flagged for items in taken for item in items)
        self._metrics.count(inputs, result, self._operator)
        told = taken[: len(inputs)]  # the rest are wake-ups
        self._metrics.messages_in += sum(item.is_message for items in told for item in items)
        self._pass_on(result, flagged)

    def _pass_on(self, result: Batch, flagged: bool) -> None:
        """Tuples, or the time if somebody above waits for it; else nothing."""
        ended = False
        if self._reference_counts is not None:
            self._reference_counts.add(result)
            ended = self._reference_counts.end(self.clock)
        if len(result):
            item = Item(result, self.clock, flagged)
        elif ended or flagged:
            item = Item(None, self.clock, flagged)
            self._metrics.messages_out += 1
        else:
            return
        for queue in self.consumers:
            queue.put(item)


def _joined(items: Sequence[Item], nothing: Batch) -> Batch:
    batches = [item.batch for item in items if item.batch is not None]
    return Batch.concat(batches) if batches else nothing
