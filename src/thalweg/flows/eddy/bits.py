"""Bitmaps as columns: a matrix of 64-bit words, one row per tuple, one bit per query (MaddenEtAl2002 §3.2.2)."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Flags, Ints

Words = npt.NDArray[np.uint64]

WORD = 64
_BY_COLUMN_UP_TO = 8  # words
_COUNT_IN_32_BITS_UP_TO = 1 << 25  # words whose bits 32-bit numbers can count
_ONE = np.uint64(1)


def bit_values(bits: Ints) -> Words:
    """For each bit number, a word with only that bit set."""
    return _ONE << (bits % WORD).astype(np.uint64)


def bitmap(bits: Ints, words: int) -> Words:
    """A row with these bits set."""
    row = np.zeros(words, dtype=np.uint64)
    np.bitwise_or.at(row, bits // WORD, bit_values(bits))
    return row


def any_bit(matrix: Words) -> Flags:
    """Which rows have any bit set."""
    if 0 < matrix.shape[1] <= _BY_COLUMN_UP_TO:  # column by column is faster than along short rows
        together: Words = reduce(np.bitwise_or, (matrix[:, word] for word in range(matrix.shape[1])))
    else:
        together = np.bitwise_or.reduce(matrix, axis=1)
    alive: Flags = together != 0
    return alive


def count_bits(matrix: Words) -> int:
    """How many bits are set in all rows."""
    return int(np.bitwise_count(matrix).sum())


def hits(matrix: Words) -> tuple[Ints, Ints]:
    """The row and the number of each set bit, row by row."""
    flat, width = np.ascontiguousarray(matrix).reshape(-1), max(1, matrix.shape[1])
    dtype = np.int32 if flat.size < _COUNT_IN_32_BITS_UP_TO else np.int64
    words = np.flatnonzero(flat != 0)  # searching booleans is much faster than searching numbers
    value, words = flat[words], words.astype(dtype)
    row = words // dtype(width)
    base, counts = (words - row * dtype(width)) * dtype(WORD), np.bitwise_count(value)
    place: npt.NDArray[Any] = np.cumsum(counts, dtype=dtype) - counts
    bits = np.empty(int(counts.sum(dtype=np.int64)), dtype=np.int64)
    while len(value):
        rest = value & (value - _ONE)
        bits[place] = base + np.bitwise_count((value ^ rest) - _ONE)  # the lowest
        left = np.flatnonzero(rest != 0)
        value, base, place = rest[left], base[left], place[left] + 1
    return np.repeat(row.astype(np.int64), counts), bits


def widened(matrix: Words, words: int) -> Words:
    """The same rows with more words, all zero."""
    wide = np.zeros((len(matrix), words), dtype=np.uint64)
    wide[:, : matrix.shape[1]] = matrix
    return wide
