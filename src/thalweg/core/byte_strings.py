"""Byte strings as lanes: where each begins, how long it is, and one array of all bytes; hashing and comparing them.

Every word of eight bytes is read for all strings at once, so the cost is that of the words, without a loop over
strings. The last word of a string is filled up with zeros; strings of other lengths differ by their lengths.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Words = list[tuple[Ints | None, npt.NDArray[np.uint64]]]  # by place in the strings: their rows (None: all), the words

_Number = TypeVar("_Number", np.int64, np.uint8)

_WORD = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], dtype=np.uint64)  # masks, by number of bytes


class ByteStrings(NamedTuple):
    """Some strings within `data`, which has at least eight more bytes behind the last string."""

    start: Ints
    length: Ints
    data: Bytes

    @staticmethod
    def of(array: pa.Array) -> ByteStrings:
        """The strings of an Arrow column of (large) strings or binary values, without nulls."""
        _, offsets, data = array.buffers()
        wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
        stored = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)[array.offset :][: len(array) + 1]
        bounds: Ints = stored.astype(np.int64)
        low, high = int(bounds[0]), int(bounds[-1])
        copy = np.zeros(high - low + _WORD, dtype=np.uint8)
        if high > low:
            copy[: high - low] = np.frombuffer(data, dtype=np.uint8)[low:high]
        return ByteStrings(bounds[:-1] - low, np.diff(bounds), copy)

    def take(self, rows: Ints | slice) -> ByteStrings:
        """Some of the strings, within the same data."""
        return ByteStrings(self.start[rows], self.length[rows], self.data)

    def words(self) -> Words:
        """The words of all strings."""
        return self._words_like(self)

    def hashes(self, words: Words | None = None) -> Ints:
        """Hashes: equal strings have equal ones. `words` are those of the strings, if they are known."""
        mixed: npt.NDArray[np.uint64] = self.length.view(np.uint64) * _MIX
        for n, (rows, lane) in enumerate(self.words() if words is None else words):
            step = (lane + np.uint64(n)) * _MIX
            if rows is None:
                mixed = (mixed ^ (mixed >> _FOLD) ^ step) * _MIX
            else:
                some = mixed[rows]
                mixed[rows] = (some ^ (some >> _FOLD) ^ step) * _MIX
        return (mixed ^ (mixed >> _FOLD)).view(np.int64)

    def equal(self, others: ByteStrings, words: Words | None = None) -> npt.NDArray[np.bool_]:
        """Where these strings equal others. `words` are those of the strings, if they are known."""
        same: npt.NDArray[np.bool_] = self.length == others.length
        if not same.all():  # such strings may lie anywhere in the others' data
            rest = np.flatnonzero(same)
            same[rest] = self.take(rest).equal(others.take(rest))
            return same
        pairs = zip(self.words() if words is None else words, others._words_like(self), strict=True)
        for (rows, lane), (_, theirs) in pairs:
            if rows is None:
                same &= lane == theirs
            else:
                same[rows] &= lane == theirs
        return same

    def _words_like(self, like: ByteStrings) -> Words:
        """Word by word the strings that have such a word (None for all), and the words; all lengths equal `like`'s."""
        if not len(like.length):
            return []
        shortest, longest = int(like.length.min()), int(like.length.max())
        everywhere = np.lib.stride_tricks.as_strided(
            self.data[:_WORD].view(np.uint64), (len(self.data) - _WORD + 1,), (1,), writeable=False
        )
        found: Words = []
        for at in range(0, longest, _WORD):
            rows = None if shortest > at else np.flatnonzero(like.length > at)
            lane = everywhere[at:][self.start if rows is None else self.start[rows]]
            if shortest < at + _WORD:
                left = (like.length if rows is None else like.length[rows]) - at
                lane &= _FIRST_BYTES[np.minimum(left, _WORD)]
            found.append((rows, lane))
        return found


class Arena:
    """Strings one behind the other in one array that grows; a string is known by its place, 0, 1, 2 ..."""

    def __init__(self, type_: pa.DataType) -> None:
        """`type_` is Arrow's type of the strings: large strings, or large binary."""
        self._type = type_
        self._bounds: Ints = np.zeros(16, dtype=np.int64)
        self._data: Bytes = np.zeros(256, dtype=np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def used(self) -> int:
        """The number of bytes."""
        return int(self._bounds[self._count])

    def append(self, array: pa.Array) -> Ints:
        """Append the strings of an Arrow column without nulls; returns their places."""
        strings = ByteStrings.of(array)
        end = self.used + int(strings.length.sum())
        self._count, first = self._count + len(array), self._count
        self._bounds = _longer(self._bounds, self._count + 1)
        self._data = _longer(self._data, end + _WORD)
        begin = int(self._bounds[first])
        self._bounds[first + 1 : self._count + 1] = begin + np.cumsum(strings.length)
        self._data[begin:end] = strings.data[: end - begin]
        return np.arange(first, self._count)

    def strings(self, places: Ints) -> ByteStrings:
        """The strings at some places."""
        start = self._bounds[places]
        return ByteStrings(start, self._bounds[places + 1] - start, self._data)

    def array(self) -> pa.Array:
        """All strings as an Arrow column, which shares their memory: what is appended later lies behind it."""
        buffers = [None, pa.py_buffer(self._bounds[: self._count + 1]), pa.py_buffer(self._data[: self.used])]
        return pa.Array.from_buffers(self._type, self._count, buffers)


def _longer(array: npt.NDArray[_Number], size: int) -> npt.NDArray[_Number]:
    if size <= len(array):
        return array
    grown = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
