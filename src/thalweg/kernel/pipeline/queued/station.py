"""An operator between its queues, with its own clock and the times at which its results end."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.pipeline.pipeline import Node
from thalweg.kernel.pipeline.queued.queue import Queue, QueueItem
from thalweg.kernel.state.snapshot import Stateful, Tree


class Station(Stateful, kind="station/1"):
    """Takes items, runs the operator at their clock, and puts its output into the queues of its consumers.

    Its clock is the clock of the items that it has taken, never that of the system (N8). A station with several inputs
    takes all items of one instant at once, and only when no older item can arrive from below.
    """

    KEPT = ("clock", "_reference_counts", "queues")  # the pipeline saves the operator's state

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
        self._below = tuple(below)  # stations that feed it; sources are not stations
        self._nothing = nothing
        self._empty = [nothing] * len(node.inputs)
        self.queues: list[Queue] = []  # one for each input, then the queue of wake-ups
        self.consumers: list[Queue] = []
        self._reference_counts = ReferenceCounts() if messages else None
        self._late = late  # ITA: a change that arrives late takes effect when it arrives
        self.clock: Instant = BEGINNING
        self.wakes_up = node.wakes or node.announces

    def expect(self, empty: Sequence[Batch]) -> None:
        """Set the empty batches of the inputs."""
        self._empty = list(empty)

    def next_wake(self) -> Instant:
        """The next time at which its output changes without new input, or at which results that it announces end."""
        due = self._operator.next_wake if self._node.wakes else FOREVER
        announced = (
            self._reference_counts.first() if self._reference_counts is not None and self._node.announces else FOREVER
        )
        return min(due, announced)

    def pending(self) -> Instant:
        """The clock of the oldest item in its queues or in those of stations below; FOREVER if there is none."""
        return min([queue.clock for queue in self.queues] + [station.pending() for station in self._below])

    def ready(self) -> bool:
        """Whether it can run: it has an item, and no item as old can still arrive from below."""
        clock = min(queue.clock for queue in self.queues)
        if clock == FOREVER:
            return False
        alone = len(self.queues) == 1
        return alone or all(station.pending() > clock for station in self._below)

    def begin(self, before: Instant, inputs: Sequence[Batch]) -> Batch:
        """The output over empty inputs, just before the first instant."""
        self.clock = before
        result = self._operator.process(inputs, before)
        if self._reference_counts is not None:
            self._reference_counts.add(result)
        return self._nothing if self._node.emits_changes else result

    def run(self) -> None:
        """Take the next item, or all items of the next instant if there are several inputs, and pass on the output."""
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
        from_inputs = taken[: len(inputs)]  # the rest are wake-ups
        self._metrics.messages_in += sum(item.is_message for items in from_inputs for item in items)
        self._pass_on(result, flagged)

    def _pass_on(self, result: Batch, flagged: bool) -> None:
        """Put tuples into the queues of the consumers; without tuples, a time-message if one is needed."""
        ended = False
        if self._reference_counts is not None:
            self._reference_counts.add(result)
            ended = self._reference_counts.end(self.clock)
        if len(result):
            item = QueueItem(result, self.clock, flagged)
        elif ended or flagged:
            item = QueueItem(None, self.clock, flagged)
            self._metrics.messages_out += 1
        else:
            return
        for queue in self.consumers:
            queue.put(item)


def _joined(items: Sequence[QueueItem], nothing: Batch) -> Batch:
    batches = [item.batch for item in items if item.batch is not None]
    return Batch.concat(batches) if batches else nothing


class ReferenceCounts(Stateful, kind="reference-counts/1"):
    """The ends of an operator's results: a time-message for t is needed only if a result ends at t.

    The paper counts for each stored tuple the results that end with it, and for a join with a table it lists the times
    at which results end. Both serve to send one message for each time at which some result ends, so the set of times is
    enough. The end of a result that was deleted prematurely stays in the set, so its message may be unnecessary.
    """

    KEPT = ("_times",)

    def __init__(self) -> None:
        self._known: set[Instant] = set()
        self._times: list[Instant] = []  # a heap of the known times

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._known = set(self._times)

    def add(self, batch: Batch) -> None:
        """Add the ends of results."""
        for end in np.unique(batch.end).tolist():
            if end < FOREVER and end not in self._known:
                self._known.add(end)
                heappush(self._times, end)

    def first(self) -> Instant:
        """The earliest end; FOREVER if there is none."""
        return self._times[0] if self._times else FOREVER

    def end(self, clock: Instant) -> bool:
        """Remove the ends up to `clock`, and return whether there were any."""
        ended = self.first() <= clock
        while self.first() <= clock:
            self._known.remove(heappop(self._times))
        return ended
