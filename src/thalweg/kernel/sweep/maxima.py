"""Maxima within runs and over intervals. NULL, the least int64, stands for "no value"."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import NULL, Flags, Ints
from thalweg.kernel.sweep.segments import rank_within


def maxima_so_far(values: Ints, starts: Flags) -> Ints:
    """The greatest value up to each row, within runs. Each round looks back twice as far as the previous one."""
    best = values.copy()
    if not len(values):
        return best
    rank = rank_within(starts)
    back, longest = 1, int(rank.max())
    while back <= longest:
        best[back:] = np.maximum(best[back:], np.where(rank[back:] >= back, best[:-back], NULL))
        back *= 2
    return best


def cover(places: int, start: Ints, stop: Ints, values: Ints) -> Ints:
    """For each place 0, 1, ... the greatest value of the intervals [start, stop) that contain it, or NULL.

    An interval is the union of two intervals of length 2^k. From the greatest k down, the value of an interval of
    length 2^k is handed to its two halves.
    """
    best = np.full(places, NULL)
    rows = np.flatnonzero(start < stop)
    start, stop, values = start[rows], stop[rows], values[rows]
    level = np.frexp((stop - start).astype(np.float64))[1] - 1
    for k in range(int(level.max(initial=-1)), -1, -1):
        rows = np.flatnonzero(level == k)
        np.maximum.at(best, start[rows], values[rows])
        np.maximum.at(best, stop[rows] - (1 << k), values[rows])
        if k:
            half = 1 << (k - 1)
            halves = best.copy()
            halves[half:] = np.maximum(best[half:], best[:-half])
            best = halves
    return best
