"""Negation for values whose left tuples arrive and leave in order: counting is enough.

The left tuples of a value are numbered by arrival. Let A(t) be the number of arrivals, G(t) the number that have left,
and m(t) the number of alive right tuples. Tuple i is in the answer iff G(t) < i <= D(t) = A(t) - m(t). So tuple i
enters the answer when D rises to i, and leaves it when D falls below i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.kernel.sweep.levels import crossings, intervals
from thalweg.kernel.sweep.negation_left import LeftEvents, NegationLeft
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import rank_within, run_starts, sums_within
from thalweg.kernel.sweep.steps import GroupSteps


class RightEvents(NamedTuple):
    """Right tuples that arrive (`weight` 1) or leave (-1): when, and the code of their value."""

    time: Ints
    weight: Ints
    code: Ints

    def take(self, rows: Lane) -> RightEvents:
        """Some of the events."""
        return RightEvents(self.time[rows], self.weight[rows], self.code[rows])


class LeftIntervals(NamedTuple):
    """Signed intervals of left tuples: the changes of the answer."""

    lanes: Sequence[Lane]
    start: Ints
    end: Ints
    sign: Ints


def sweep_in_order(left: NegationLeft, arriving: LeftEvents, leaving: LeftEvents, right: RightEvents) -> LeftIntervals:
    """The changes of the answer. The caller has put `arriving` into the queues; `leaving` is taken out here."""
    steps, (left_steps, right_steps) = GroupSteps.of([(arriving.code, arriving.time), (right.code, right.time)])
    change = np.zeros(len(steps), dtype=np.int64)
    np.add.at(change, left_steps, 1)
    np.add.at(change, right_steps, -right.weight)
    top_before = left.top.values[leaving.code]
    top = steps.running(change, left.top.values)
    step, number, up = crossings(top - change, top)
    code = steps.code[step]
    queued = number > left.queues.first[code]
    slot, time, up = left.queues.slots(code[queued], number[queued]), steps.time[step[queued]], up[queued]
    if len(leaving.code):
        slot, time, up = _with_leaving(left, leaving, top_before, slot, time, up)
    crossing, start, end, sign = intervals(slot, time, up)
    lanes = left.queues.read(slot[crossing])
    end = np.minimum(end, left.until(lanes[0]))
    real = start < end
    return LeftIntervals([lane[real] for lane in lanes], start[real], end[real], sign[real])


def _with_leaving(
    left: NegationLeft, leaving: LeftEvents, top_before: Ints, slot: Ints, time: Ints, up: Flags
) -> tuple[Ints, Ints, Flags]:
    """Add the departures to the crossings: a last crossing down for a tuple in the answer, and none after it."""
    queues = left.queues
    ranks = rank_within(run_starts(leaving.code))
    number = queues.first[leaving.code] + 1 + ranks
    slot = np.concatenate([slot, queues.slots(leaving.code, number)])
    time = np.concatenate([time, leaving.time])
    up = np.concatenate([up, np.zeros(len(number), dtype=np.bool_)])
    leaves = np.arange(len(up)) >= len(up) - len(number)
    in_answer = np.zeros(len(up), dtype=np.bool_)
    in_answer[leaves] = top_before >= number
    np.add.at(queues.first, leaving.code, 1)
    order = order_by(slot, time, 1 - leaves)
    slot, time = slot[order], time[order]
    up, leaves, in_answer = up[order], leaves[order], in_answer[order]
    starts = run_starts(slot)
    in_answer[1:] = np.where(starts[1:], in_answer[1:], up[:-1])
    left_before = sums_within(leaves.astype(np.int64), starts) - leaves > 0
    kept = ~left_before & (in_answer | ~leaves)
    return slot[kept], time[kept], up[kept]
