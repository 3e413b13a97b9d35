"""The sweep that DISTINCT and GROUP BY share: accumulators say what holds at each step, and what changed is told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.shown import Changes, Shown
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import Steps


class GroupSweep(Stateful, kind="group-sweep/1"):
    """Groups by code with values from accumulators.

    The first value of the first accumulator says by being positive that a group is there; the others are shown with
    it. With `always`, group 0 is there from the first batch on, even over nothing.
    """

    KEPT = ("_accumulators", "_emitted", "_begun")

    def __init__(
        self, accumulators: Sequence[Accumulator], types: Sequence[DataType] = (), always: bool = False
    ) -> None:
        self._accumulators = accumulators
        self._emitted = Shown(types)
        self._always = always
        self._begun = False
        self.vanished: Ints = np.empty(0, dtype=np.int64)  # groups that left in the last batch without a trace

    @property
    def stored(self) -> int:
        """What the accumulators keep, and the groups shown."""
        return self._emitted.size + sum(a.stored for a in self._accumulators)

    def is_idle(self, codes: Ints) -> Flags:
        """Where groups are empty and nothing waits for them."""
        return ~self._emitted.has(codes) & self._accumulators[0].is_idle(codes)

    def change(self, code: Ints, batch: Batch, now: Instant) -> Changes:
        """How the groups change, given tuples with their groups' codes."""
        happenings = [a.gather(code, batch, now) for a in self._accumulators]
        if self._always and not self._begun:
            first = min(now, int(batch.start.min(initial=now)))
            happenings.append((np.zeros(1, dtype=np.int64), np.full(1, first)))
            self._begun = True
        steps, places = Steps.of(happenings)
        if not len(steps):  # nothing happened to anybody
            self.vanished = steps.code
            return self._emitted.no_change()
        pairs = zip(self._accumulators, places[: len(self._accumulators)], strict=True)
        size, *lanes = [lane for a, steps_of in pairs for lane in a.values(steps, steps_of)]
        present = np.ones(len(steps), dtype=np.bool_) if self._always else size > 0
        empty = steps.groups[~present[steps.stop - 1]]
        self.vanished = empty[self._accumulators[0].is_idle(empty)]
        return self._emitted.change(steps, present, lanes)
