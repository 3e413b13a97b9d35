"""Which tuples can be among the first k by some rank, now or later, given when they start and end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import INT64_MAX
from thalweg.kernel.sweep.ordering import order_by

OLD: Instant = BEGINNING - 2  # the start of tuples that were there before a batch; no other can start so early

_PART = 64


def may_show(rank: Ints, start: Ints, end: Ints, limit: int, before: Instant, now: Instant, slices: int) -> Flags:
    """Where a tuple is not beaten, at every instant of its life up to `now`, by `limit` others.

    Time is cut into slices; those that live throughout a slice beat others in it.
    """
    shown = np.zeros(len(rank), dtype=np.bool_)
    first = max(before, int(start[start > OLD].min(initial=now)))
    edges = sorted({first + (now + 1 - first) * i // slices for i in range(slices + 1)})
    for left, right in pairwise([OLD, *edges]):  # the first slice is what showed before
        inside = np.flatnonzero((start < right) & (end > left))
        throughout = rank[inside][(start[inside] <= left) & (end[inside] >= right)]
        worst = np.partition(throughout, limit - 1)[limit - 1] if len(throughout) >= limit else INT64_MAX
        shown[inside[rank[inside] <= worst]] = True
    return shown


def skyband(rank: Ints, end: Ints, limit: int) -> Flags:
    """Keeps every tuple that fewer than `limit` tuples of a better rank outlive, and perhaps some others.

    Those that end last come first, in parts that double: a part is measured by the best ranks of the parts before.
    """
    order = order_by(-end, rank)
    kept = np.ones(len(order), dtype=np.bool_)
    best, worst = np.empty(0, dtype=np.int64), INT64_MAX
    first, size = 0, max(limit, _PART)
    while first < len(order):
        rows = order[first : first + size]
        kept[rows] = rank[rows] <= worst
        best = np.concatenate([best, rank[rows[kept[rows]]]])
        if len(best) >= limit:
            best = np.partition(best, limit - 1)[:limit]
            worst = int(best.max())
        first, size = first + size, 2 * size
    return kept
