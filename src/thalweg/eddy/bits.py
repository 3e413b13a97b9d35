"""Bitmaps as columns: a matrix of 64-bit words, one row per tuple, one bit per query (seed 003, section 3.2.2)."""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Flags, Ints

Words = npt.NDArray[np.uint64]

WORD = 64
_NARROW = 8  # words
_ONE = np.uint64(1)


def words_for(bits: int) -> int:
    """How many words hold so many bits."""
    return -(-bits // WORD)


def bit_values(bits: Ints) -> Words:
    """For each bit number the word in which that bit alone is set."""
    return _ONE << (bits % WORD).astype(np.uint64)


def bitmap(bits: Ints, words: int) -> Words:
    """A row in which some bits are set."""
    row = np.zeros(words, dtype=np.uint64)
    np.bitwise_or.at(row, bits // WORD, bit_values(bits))
    return row


def any_bit(matrix: Words) -> Flags:
    """Which rows have a bit set."""
    if 0 < matrix.shape[1] <= _NARROW:  # column by column: rows are too short to go along
        together: Words = reduce(np.bitwise_or, (matrix[:, word] for word in range(matrix.shape[1])))
    else:
        together = np.bitwise_or.reduce(matrix, axis=1)
    alive: Flags = together != 0
    return alive


def count_bits(matrix: Words) -> int:
    """How many bits are set in all rows."""
    return int(np.bitwise_count(matrix).sum())


def hits(matrix: Words) -> tuple[Ints, Ints]:
    """The rows and numbers of all bits that are set, row by row. Only words and bytes with a bit are unpacked."""
    width = matrix.shape[1]
    flat = np.ascontiguousarray(matrix, dtype="<u8").reshape(-1)
    words = np.flatnonzero(flat != 0)  # truth values are searched much faster than numbers
    octets = flat[words].view(np.uint8)
    full = np.flatnonzero(octets != 0)
    found = np.flatnonzero(np.unpackbits(octets[full], bitorder="little").view(np.bool_))
    octet = full[found >> 3]
    rows, word = np.divmod(words[octet >> 3], max(1, width))
    return rows, word * WORD + (octet & 7) * 8 + (found & 7)


def widened(matrix: Words, words: int) -> Words:
    """The same rows with more words, which are empty."""
    wide = np.zeros((len(matrix), words), dtype=np.uint64)
    wide[:, : matrix.shape[1]] = matrix
    return wide
