"""Exact sums as values: int64 if they fit, the nearest DOUBLE, variances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import NULL, Flags, Ints, Lane
from thalweg.kernel.aggregates.numbers import MASK, WIDTH
from thalweg.kernel.aggregates.sums import Sums

_HALF = 1 << (WIDTH - 1)
_ONE = np.uint64(1)
Digits = npt.NDArray[np.int64]


def to_int(sums: Sums) -> Ints:
    """The sums of integers; NULL if they exceed int64."""
    low, high = sums.limbs
    high = high + (low >> WIDTH)
    return np.where((high >= -_HALF) & (high < _HALF), (high << WIDTH) | (low & MASK), NULL)


def to_double(sums: Sums) -> Lane:
    """The nearest DOUBLE, ties to even; infinite beyond the greatest DOUBLE."""
    mantissa, exponent = _leading(*_normal(sums.limbs))
    return _scaled(mantissa, exponent + WIDTH * sums.low + sums.unit)


def variance(count: Ints, sums: Sums, squares: Sums, freedom: int) -> Lane:
    """(n Q - S^2) / (n (n - freedom)) of n > freedom values with sum S and sum of squares Q; the numerator is exact."""
    low = min(2 * sums.low, squares.low)
    digits = _normal(sums.limbs)[1]
    square_sum = _normal(squares.limbs)[1]
    rows = max(2 * (sums.low + len(digits)), squares.low + len(square_sum)) - low + 1
    difference = np.zeros((rows, len(count)), dtype=np.int64)
    for i, digit in enumerate(square_sum):
        _add(difference, i + squares.low - low, (digit * count).astype(np.uint64), 1)
    for i, left in enumerate(digits.astype(np.uint64)):
        for j, right in enumerate(digits[: i + 1].astype(np.uint64)):
            _add(difference, i + j + 2 * sums.low - low, left * right, -1 if i == j else -2)
    mantissa, exponent = _leading(*_normal(difference))
    return _scaled(mantissa / (count * (count - freedom)), exponent + WIDTH * low + squares.unit)


def _add(limbs: Digits, place: int, product: npt.NDArray[np.uint64], weight: int) -> None:
    limbs[place] += weight * (product & np.uint64(MASK)).astype(np.int64)
    limbs[place + 1] += weight * (product >> np.uint64(WIDTH)).astype(np.int64)


def _scaled(mantissa: Lane, exponent: Ints) -> Lane:
    with np.errstate(over="ignore", under="ignore"):
        scaled: Lane = np.ldexp(mantissa, exponent.astype(np.int32))
    return scaled


def _normal(limbs: Digits) -> tuple[Flags, Digits]:
    """Which sums are negative, and the digits 0 .. 2^32 - 1 of their absolute values."""
    carry = np.zeros(limbs.shape[1], dtype=np.int64)
    for limb in limbs:
        carry = (limb + carry) >> WIDTH
    negative = carry < 0
    sign = np.where(negative, -1, 1)
    digits = np.empty((len(limbs) + 1, limbs.shape[1]), dtype=np.int64)
    carry[:] = 0
    for i, limb in enumerate(limbs):
        whole = limb * sign + carry
        digits[i], carry = whole & MASK, whole >> WIDTH
    digits[-1] = carry
    return negative, digits


def _leading(negative: Flags, digits: Digits) -> tuple[Lane, Ints]:
    """The leading 53 bits as a DOUBLE, correctly rounded, and the power of two to multiply it with.

    Of the bits below the leading 63 it only matters whether any is set: then the last of the 63 bits is set (sticky).
    """
    count = digits.shape[1]
    top, next_, third = (np.zeros(count, dtype=np.int64) for _ in range(3))
    place = np.zeros(count, dtype=np.int64)
    rest = np.zeros(count, dtype=np.bool_)
    zero = np.zeros(count, dtype=np.int64)
    something = np.zeros(count, dtype=np.bool_)  # below the third digit
    for i, digit in enumerate(digits):
        here = digit != 0
        if i > 2:
            something = something | (digits[i - 3] != 0)
        np.copyto(rest, something, where=here)
        np.copyto(top, digit, where=here)
        np.copyto(next_, digits[i - 1] if i else zero, where=here)
        np.copyto(third, digits[i - 2] if i > 1 else zero, where=here)
        np.copyto(place, i, where=here)
    length = np.frexp(top.astype(np.float64))[1].astype(np.int64)  # bits of the leading digit
    window = ((top << WIDTH) | next_).view(np.uint64) << (WIDTH - length).astype(np.uint64)
    window |= (third >> length).view(np.uint64)
    rest |= (third & ((np.int64(1) << length) - 1)) != 0
    bits = ((window >> _ONE) | (window & _ONE) | rest).astype(np.int64)
    exponent = WIDTH * (place - 1) - (WIDTH - length) + 1
    return np.where(negative, -bits, bits).astype(np.float64), exponent
