"""Negation of values whose left tuples come and go in order: counting alone finds the answer.

The tuples of a value are numbered as they come. With A(t) come, G(t) gone and m(t) right ones alive, number i is in the
answer iff G(t) < i <= D(t) = A(t) - m(t). So each step of D up over i shows tuple i, each step down hides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.kernel.sweep.left_tuples import LeftTuples, Moves
from thalweg.kernel.sweep.levels import crossings, intervals
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import rank_within, run_starts, sums_within
from thalweg.kernel.sweep.steps import Steps


class Turns(NamedTuple):
    """Right tuples that come (`weight` 1) or go (-1) of a value."""

    time: Ints
    weight: Ints
    code: Ints

    def take(self, rows: Lane) -> Turns:
        """Some of them."""
        return Turns(self.time[rows], self.weight[rows], self.code[rows])


class Found(NamedTuple):
    """Signed intervals of left tuples."""

    lanes: Sequence[Lane]
    start: Ints
    end: Ints
    sign: Ints


def sweep_in_order(left: LeftTuples, coming: Moves, going: Moves, turns: Turns) -> Found:
    """The changes of the answer; `coming` is in the queues already, `going` leaves them here."""
    steps, (came, turned) = Steps.of([(coming.code, coming.time), (turns.code, turns.time)])
    change = np.zeros(len(steps), dtype=np.int64)
    np.add.at(change, came, 1)
    np.add.at(change, turned, -turns.weight)
    top_before = left.top.values[going.code]
    top = steps.running(change, left.top.values)
    step, number, up = crossings(top - change, top)
    code = steps.code[step]
    there = number > left.queues.first[code]
    slot, time, up = left.queues.slots(code[there], number[there]), steps.time[step[there]], up[there]
    if len(going.code):
        slot, time, up = _with_going(left, going, top_before, slot, time, up)
    crossing, start, end, sign = intervals(slot, time, up)
    lanes = left.queues.read(slot[crossing])
    end = np.minimum(end, left.until(lanes[0]))
    real = start < end
    return Found([lane[real] for lane in lanes], start[real], end[real], sign[real])


def _with_going(
    left: LeftTuples, going: Moves, top_before: Ints, slot: Ints, time: Ints, up: Flags
) -> tuple[Ints, Ints, Flags]:
    """The crossings with the tuples that go: one last step down for what is shown, and nothing after."""
    queues = left.queues
    ranks = rank_within(run_starts(going.code))
    number = queues.first[going.code] + 1 + ranks
    slot = np.concatenate([slot, queues.slots(going.code, number)])
    time = np.concatenate([time, going.time])
    up = np.concatenate([up, np.zeros(len(number), dtype=np.bool_)])
    goes = np.arange(len(up)) >= len(up) - len(number)
    shown = np.zeros(len(up), dtype=np.bool_)
    shown[goes] = top_before >= number
    np.add.at(queues.first, going.code, 1)
    order = order_by(slot, time, 1 - goes)
    slot, time = slot[order], time[order]
    up, goes, shown = up[order], goes[order], shown[order]
    starts = run_starts(slot)
    shown[1:] = np.where(starts[1:], shown[1:], up[:-1])
    gone_before = sums_within(goes.astype(np.int64), starts) - goes > 0
    kept = ~gone_before & (shown | ~goes)
    return slot[kept], time[kept], up[kept]
