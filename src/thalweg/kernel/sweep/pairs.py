"""Candidate pairs of a join, from slices, in pieces that fit into a cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.kernel.sweep.segments import slices_to_rows
from thalweg.kernel.tuning import DEFAULT

Pairs = tuple[Ints, Ints]  # probing rows, and for each the position of a candidate


def pairs(first: Ints, count: Ints, at_once: int = DEFAULT.pairs_at_once) -> Iterator[Pairs]:
    """Each row with each position of its slice, which has `count` positions from `first` on; `at_once` at a time."""
    rows = count.nonzero()[0]
    if not len(rows):
        return
    if len(rows) < len(count):
        first, count = first.take(rows), count.take(rows)
    total = count.cumsum()
    if total[-1] <= at_once:
        yield rows.repeat(count), slices_to_rows(first, count)
        return
    for done in range(0, int(total[-1]), at_once):
        stop = min(done + at_once, int(total[-1]))
        begin, end = (int(np.searchsorted(total, edge, side="right")) for edge in (done, stop - 1))
        piece = slice(begin, end + 1)
        some, firsts = count[piece].copy(), first[piece].copy()
        some[-1] -= total[end] - stop  # a slice may be cut: a row can have more partners than a piece has room for
        cut = done - (total[begin] - count[begin])
        some[0] -= cut
        firsts[0] += cut
        yield rows[piece].repeat(some), slices_to_rows(firsts, some)
