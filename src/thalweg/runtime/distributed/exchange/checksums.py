"""CRC-32 of many strings at once.

The checksum is linear over bits: each byte contributes to it alone, by its value and its distance from the end, and so
does the length. So a table by distance and byte gives all contributions, and their exclusive or is the checksum.
"""

from __future__ import annotations

from functools import cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from thalweg.core.byte_strings import ByteStrings
from thalweg.core.lanes import Ints

_LONGEST = 64  # bytes; longer strings are summed up one by one
_BLOCK = 8192  # strings that fit into a cache

_Sums = npt.NDArray[np.uint32]


def checksums(strings: ByteStrings) -> Ints:
    """For each string what `zlib.crc32` gives."""
    sums = np.empty(len(strings.length), dtype=np.int64)
    for first in range(0, len(sums), _BLOCK):
        some = strings.take(slice(first, first + _BLOCK))
        short = np.flatnonzero(some.length <= _LONGEST)
        sums[first + short] = _of_short(some if len(short) == len(some.length) else some.take(short))
    for row in np.flatnonzero(strings.length > _LONGEST).tolist():
        begin = int(strings.start[row])
        sums[row] = crc32(strings.data[begin : begin + int(strings.length[row])].data)
    return sums


def _of_short(strings: ByteStrings) -> _Sums:
    by_byte, by_length = _tables()
    sums: _Sums = by_length[strings.length]
    shortest, longest = int(strings.length.min(initial=_LONGEST)), int(strings.length.max(initial=0))
    last = strings.start + strings.length - 1
    for distance in range(longest):
        if distance < shortest:
            sums ^= by_byte[distance].take(strings.data.take(last - distance))
        else:
            rows = np.flatnonzero(strings.length > distance)
            sums[rows] ^= by_byte[distance].take(strings.data.take(last[rows] - distance))
    return sums


@cache
def _tables() -> tuple[list[_Sums], _Sums]:
    """By distance from the end the contribution of each byte; and by length that of zeros so many."""
    byte = np.arange(256, dtype=np.uint32)
    zeros = np.array([crc32(bytes(n)) for n in range(_LONGEST + 1)], dtype=np.uint32)
    alone = np.array([crc32(bytes([b])) for b in byte.tolist()], dtype=np.uint32) ^ zeros[1]
    tables = [alone]
    for _ in range(_LONGEST - 1):
        tables.append((tables[-1] >> np.uint32(8)) ^ alone[tables[-1] & np.uint32(255)])
    return tables, zeros
