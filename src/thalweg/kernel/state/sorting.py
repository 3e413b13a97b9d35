"""Stable sorting of integers by radix."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints

_DIGIT_BITS = 16  # NumPy sorts 16-bit integers by radix, many times faster than wider ones
_RADIX_FROM_ROWS = 512  # fewer rows are sorted by comparisons


def stable_order(lane: Ints) -> Ints:
    """The positions that sort a lane; rows with equal values keep their order."""
    if len(lane) < 2 or bool((lane[1:] >= lane[:-1]).all()):
        return np.arange(len(lane))
    low, high = int(lane.min()), int(lane.max())
    if len(lane) < _RADIX_FROM_ROWS or high - low >= 1 << 3 * _DIGIT_BITS:
        return np.argsort(lane, kind="stable")
    digits = lane - low
    order = np.argsort(digits.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT_BITS, (high - low).bit_length(), _DIGIT_BITS):
        order = order[np.argsort((digits >> shift).astype(np.uint16)[order], kind="stable")]
    return order
