"""Sorting rows by several lanes, SQL's order of values as integers, and grouping equal rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import NULL, Flags, Ints, Lane, identity, sortable
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.state.sorting import stable_order as stable_order
from thalweg.kernel.sweep.segments import run_starts, run_sums

_MIX = np.uint64(0x9E3779B97F4A7C15)
UInts = npt.NDArray[np.uint64]


def order_by(*lanes: Ints) -> Ints:
    """The positions that sort rows by several lanes, of which the first is the most significant; stable."""
    order = stable_order(lanes[-1])
    for lane in lanes[-2::-1]:
        order = order[stable_order(lane[order])]
    return order


def sort_lane(
    lane: Lane, type_: DataType, pool: StringPool, descending: bool = False, nulls_first: bool = False
) -> Ints:
    """Integers that sort as the values do; NULLs last unless `nulls_first`, also when descending.

    NULL is the least integer: subtracting one (with overflow) or inverting all bits makes it the greatest.
    """
    ranks = _as_integers(sortable(lane, type_, pool))
    if descending:
        return -ranks if nulls_first else ~ranks
    return ranks if nulls_first else ranks - 1


def _as_integers(lane: Lane) -> Ints:
    """Integers that sort as the numbers do; NULL stays the least integer."""
    if lane.dtype != np.float64:
        return lane
    bits = identity(lane)
    flipped = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)  # the bits of negative doubles descend
    return np.where(bits == NULL, NULL, flipped)


def precedes(left: Sequence[Ints], right: Sequence[Ints]) -> Flags:
    """Where left rows come strictly before right rows; a single left row is compared with all right rows."""
    before = np.zeros(np.broadcast_shapes(left[0].shape, right[0].shape), dtype=np.bool_)
    equal = ~before
    for a, b in zip(left, right, strict=True):
        before |= equal & (a < b)
        equal &= a == b
    return before


def hash_rows(keys: Sequence[Ints]) -> UInts:
    """A hash of each row."""
    hashes = keys[0].view(np.uint64) * _MIX
    for key in keys[1:]:
        hashes = ((hashes ^ (hashes >> np.uint64(29))) + key.view(np.uint64)) * _MIX
    return (hashes ^ (hashes >> np.uint64(32))) * _MIX


def together(lanes: Sequence[Lane], hash_of: Callable[[Sequence[Ints]], UInts] = hash_rows) -> tuple[Ints, Flags]:
    """A stable order in which equal rows (NULLs are equal) are neighbours, and where each group of equal rows begins.

    Rows are sorted by the first lane, then by a hash of the others; lane by lane if hashes of unequal rows collide.
    """
    keys = [identity(lane) for lane in lanes]
    order = stable_order(keys[0])
    if len(keys) > 1 and len(order):
        leading = np.cumsum(run_starts(keys[0][order])).view(np.uint64)
        hash_bits = np.uint64(64 - int(leading[-1]).bit_length())
        hashes = (leading << hash_bits) | (hash_of(keys[1:]) >> (np.uint64(64) - hash_bits))[order]
        inner = np.argsort(hashes, kind="stable")
        order = order[inner]
        starts = run_starts(*(key[order] for key in keys))
        if not bool((starts & ~run_starts(hashes[inner])).any()):
            return order, starts
        order = np.lexsort(keys)
    return order, run_starts(*(key[order] for key in keys))


def net(lanes: Sequence[Lane], weights: Ints) -> tuple[Ints, Ints]:
    """Sum up the weights of equal rows: positions, repeated |sum| times, each with its sign 1 or -1."""
    order, starts = together(lanes)
    sums = run_sums(weights[order], starts)
    return np.repeat(order[starts], np.abs(sums)), np.repeat(np.sign(sums), np.abs(sums))
