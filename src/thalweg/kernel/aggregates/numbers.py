"""Numbers as digits to base 2^32, so that int64 lanes hold exact sums, and subtracting a value is exact too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Ints, Lane

WIDTH = 32
MASK = np.int64((1 << WIDTH) - 1)
UNIT = -1074  # every finite DOUBLE is a whole multiple of 2^-1074

_FRACTION = np.int64((1 << 52) - 1)


@dataclass(frozen=True)
class Numbers:
    """sign * sum of digits[i] * 2^(32 i + shift) * 2^unit for each row; digits are in 0 .. 2^32 - 1."""

    sign: Ints
    digits: tuple[Ints, ...]
    shift: Ints | None  # None if all shifts are zero
    unit: int

    @staticmethod
    def of(lane: Lane) -> Numbers:
        """The numbers of a lane, which must be finite and not NULL."""
        return _of_doubles(lane) if lane.dtype == np.float64 else _of_ints(lane)

    def limbs(self, weight: Ints) -> Iterator[tuple[Ints | int, Ints]]:
        """Weighted limbs: for each row the slots and amounts of which weight * number is the sum.

        An amount in a slot stands for amount * 2^(32 slot) * 2^unit. Equal numbers have equal limbs, so that limbs
        cancel one by one when a number leaves.
        """
        weight = weight * self.sign
        if self.shift is None:
            yield from ((i, digit * weight) for i, digit in enumerate(self.digits))
            return
        slot, shift = self.shift >> 5, self.shift & 31
        for i, digit in enumerate(self.digits):
            moved = digit << shift
            yield slot + i, (moved & MASK) * weight
            yield slot + (i + 1), (moved >> WIDTH) * weight

    def slots(self) -> tuple[int, int]:
        """The lowest slot of all limbs, and the slot after the highest; equal if there are no numbers."""
        if self.shift is None:
            return 0, len(self.digits)
        if not len(self.shift):
            return 0, 0
        return int(self.shift.min() >> 5), int(self.shift.max() >> 5) + len(self.digits) + 1

    def squared(self) -> Numbers:
        """The exact squares."""
        low, high = (digit.astype(np.uint64) for digit in self.digits)
        both = low * high  # counts twice; added twice, because 2 * both may exceed 64 bits
        square = (low * low, both, both, high * high)
        columns: list[npt.NDArray[np.uint64]] = [np.zeros_like(low) for _ in range(4)]
        for place, product in zip((0, 1, 1, 2), square, strict=True):
            columns[place] += product & np.uint64(MASK)
            columns[place + 1] += product >> np.uint64(WIDTH)
        for i in range(3):
            columns[i + 1] += columns[i] >> np.uint64(WIDTH)
            columns[i] &= np.uint64(MASK)
        digits = tuple(column.astype(np.int64) for column in columns)
        shift = None if self.shift is None else 2 * self.shift
        return Numbers(np.ones_like(self.sign), digits, shift, 2 * self.unit)


def _of_ints(lane: Ints) -> Numbers:
    size = np.abs(lane)
    return Numbers(np.where(lane < 0, -1, 1), (size & MASK, size >> WIDTH), None, 0)


def _of_doubles(lane: Lane) -> Numbers:
    bits = lane.view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & _FRACTION) | ((exponent > 0).astype(np.int64) << 52)
    shift = np.maximum(exponent, 1) - 1
    return Numbers(np.where(bits < 0, -1, 1), (mantissa & MASK, mantissa >> WIDTH), shift, UNIT)
