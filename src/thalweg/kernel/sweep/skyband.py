"""The k-skyband: which tuples can be among the first k by rank, now or later, given their starts and ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import INT64_MAX
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.tuning import DEFAULT

OLD: Instant = BEGINNING - 2  # stands for the start of tuples of earlier batches; no tuple can start so early


def may_show(rank: Ints, start: Ints, end: Ints, limit: int, before: Instant, now: Instant, slices: int) -> Flags:
    """Which tuples may be among the first `limit` at some instant up to `now`, and perhaps some others.

    Time is cut into slices. In a slice a tuple is ruled out by `limit` better tuples that live throughout the slice.
    """
    shown = np.zeros(len(rank), dtype=np.bool_)
    first = max(before, int(start[start > OLD].min(initial=now)))
    edges = sorted({first + (now + 1 - first) * i // slices for i in range(slices + 1)})
    for left, right in pairwise([OLD, *edges]):  # the first slice is the time before the batch
        inside = np.flatnonzero((start < right) & (end > left))
        throughout = rank[inside][(start[inside] <= left) & (end[inside] >= right)]
        worst = np.partition(throughout, limit - 1)[limit - 1] if len(throughout) >= limit else INT64_MAX
        shown[inside[rank[inside] <= worst]] = True
    return shown


def skyband(rank: Ints, end: Ints, limit: int, first_part: int = DEFAULT.skyband_part) -> Flags:
    """Keep every tuple that fewer than `limit` tuples of better rank outlive, and perhaps some others.

    Tuples are taken in parts that double in size, the last to end first. A tuple is dropped if `limit` tuples of the
    parts before it, which all outlive it, have better ranks.
    """
    order = order_by(-end, rank)
    kept = np.ones(len(order), dtype=np.bool_)
    best, worst = np.empty(0, dtype=np.int64), INT64_MAX
    first, size = 0, max(limit, first_part)
    while first < len(order):
        rows = order[first : first + size]
        kept[rows] = rank[rows] <= worst
        best = np.concatenate([best, rank[rows[kept[rows]]]])
        if len(best) >= limit:
            best = np.partition(best, limit - 1)[:limit]
            worst = int(best.max())
        first, size = first + size, 2 * size
    return kept
