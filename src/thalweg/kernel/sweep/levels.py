"""From counts that go up and down to intervals: the l-th copy of a tuple is alive while the count is at least l."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import FOREVER
from thalweg.kernel.sweep.ordering import order_by, stable_order
from thalweg.kernel.sweep.segments import rank_within, run_ends, run_starts, slices_to_rows


class BagChanges(NamedTuple):
    """Changes of a bag: which kind of tuple it gains (`change` 1) or loses (-1), and when."""

    kind: Ints
    time: Ints
    change: Ints


class Crossings(NamedTuple):
    """Steps of a count that cross levels: the step, the level, and whether it is crossed upwards."""

    step: Ints
    level: Ints
    up: Flags


def crossings(before: Ints, after: Ints) -> Crossings:
    """The levels that each step from `before` to `after` crosses: a step from 2 to 4 crosses the levels 3 and 4."""
    count = np.abs(after - before)
    step = np.repeat(np.arange(len(count)), count)
    return Crossings(step, slices_to_rows(np.minimum(before, after) + 1, count), (after > before)[step])


class Intervals(NamedTuple):
    """Signed intervals; `of` is the crossing or the kind of tuple that an interval belongs to."""

    of: Ints
    start: Ints
    end: Ints
    sign: Ints


def intervals(copy: Ints, time: Ints, up: Flags) -> Intervals:
    """Pair the crossings of each copy, given in order of time, into intervals: the second crossing undoes the first.

    The crossings of a copy alternate between up and down, so a pair is +[a, b) or -[a, b), and `of` is its first
    crossing. A first crossing without a second one makes an endless interval.
    """
    order = stable_order(copy)
    starts = run_starts(copy[order])
    later = np.append(time[order][1:], FOREVER)
    end = np.where(run_ends(starts), FOREVER, later)
    first = (rank_within(starts) & 1) == 0
    chosen = order[first]
    return Intervals(chosen, time[chosen], end[first], np.where(up[chosen], 1, -1))


def net_intervals(changes: BagChanges, until: Ints) -> Intervals:
    """The net changes of each kind and instant as intervals, which end at the latest with the kind's `until`."""
    real = changes.time < until[changes.kind]
    kind, time, change = (lane[real] for lane in changes)
    order = order_by(kind, time)
    kind, time = kind[order], time[order]
    ends = run_ends(run_starts(kind, time))
    count = np.cumsum(change[order])[ends]
    step, level, up = crossings(np.append(0, count)[:-1], count)
    kind, time = kind[ends][step], time[ends][step]
    by_copy = order_by(kind, level)
    kind, level = kind[by_copy], level[by_copy]
    crossing, start, end, sign = intervals(np.cumsum(run_starts(kind, level)), time[by_copy], up[by_copy])
    kind = kind[crossing]
    return Intervals(kind, start, np.minimum(end, until[kind]), sign)
