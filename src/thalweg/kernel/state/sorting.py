"""Sorting integers."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints

_DIGIT = 16  # NumPy sorts 16-bit integers by radix, many times faster than wider ones
_FEW = 512


def stable_order(lane: Ints) -> Ints:
    """The positions that sort a lane; equal values keep their order."""
    if len(lane) < 2 or bool((lane[1:] >= lane[:-1]).all()):
        return np.arange(len(lane))
    low, high = int(lane.min()), int(lane.max())
    if len(lane) < _FEW or high - low >= 1 << 3 * _DIGIT:
        return np.argsort(lane, kind="stable")
    digits = lane - low
    order = np.argsort(digits.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, (high - low).bit_length(), _DIGIT):
        order = order[np.argsort((digits >> shift).astype(np.uint16)[order], kind="stable")]
    return order
