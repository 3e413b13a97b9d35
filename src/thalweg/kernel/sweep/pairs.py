"""Candidate pairs of a join, from slices, in pieces that fit into a cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.kernel.sweep.segments import slices_to_rows
from thalweg.kernel.tuning import DEFAULT

Pairs = tuple[Ints, Ints]  # probing rows, and for each the position of a candidate


def pairs(first: Ints, count: Ints, at_once: int = DEFAULT.pairs_at_once) -> Iterator[Pairs]:
    """Each row with each position of its slice, which has `count` positions from `first` on."""
    rows = count.nonzero()[0]
    if not len(rows):
        return
    if len(rows) < len(count):
        first, count = first.take(rows), count.take(rows)
    total = count.cumsum()
    if total[-1] <= at_once:
        yield rows.repeat(count), slices_to_rows(first, count)
        return
    begin = 0
    while begin < len(rows):
        done = int(total[begin - 1]) if begin else 0
        stop = max(begin + 1, int(np.searchsorted(total, done + at_once, side="right")))
        piece = slice(begin, stop)
        yield np.repeat(rows[piece], count[piece]), slices_to_rows(first[piece], count[piece])
        begin = stop
