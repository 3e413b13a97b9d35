"""Codes of integers that lie close together, in an array by value: faster than hashing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.core.forgetting import FreeCodes
from thalweg.core.lanes import NULL, Flags, Ints

# An array takes memory for every value between the least and the greatest: always up to the first size, and up to the
# second while there are enough values.
_ANY_RANGE = 1 << 20
_MOST_ENTRIES = 1 << 22
_ENTRIES_PER_VALUE = 16
_SORT_WHEN_ENTRIES_PER_VALUE = 16  # with so many entries for each new value, sorting beats scanning the array

_Entries = npt.NDArray[np.int32]


class ValueTable:
    """Codes 0, 1, 2 ... for the values of one int64 lane, as long as the values are close together."""

    def __init__(self, codes: FreeCodes) -> None:
        self.new: list[
            tuple[Ints, list[Ints]]
        ] = []  # codes that were given out since the caller emptied it, and values
        self._codes = codes
        self._null = -1  # the code of NULL or -1; NULL is too far from all other values
        self._first = 0
        self._entries: _Entries = np.empty(0, dtype=np.int32)  # codes by (value - first); -1 if the value has no code

    def covers(self, lane: Ints) -> bool:
        """Make room for some values; False if they are too far apart."""
        nulls = lane == NULL
        known = lane[~nulls] if nulls.any() else lane
        return not len(known) or self._cover(known)

    def encode(self, lane: Ints) -> Ints:
        """The codes of values that the table covers; new values get new codes."""
        nulls = lane == NULL
        if not nulls.any():
            return self._of_values(lane)
        codes = np.empty(len(lane), dtype=np.int64)
        codes[~nulls] = self._of_values(lane[~nulls])
        if self._null < 0:
            self._null = int(self._given(np.full(1, NULL))[0])
        codes[nulls] = self._null
        return codes

    def release(self, values: Ints, codes: Ints) -> None:
        """Forget values, given with their codes, and free the codes."""
        nulls = values == NULL
        if nulls.any():
            self._null = -1
        self._entries[values[~nulls] - self._first] = -1
        self._codes.give(codes)

    def fill(self, values: Ints, codes: Ints) -> bool:
        """Take values that have these codes already, into an empty table; False if they are too far apart."""
        if not self.covers(values):
            return False
        nulls = values == NULL
        self._entries[values[~nulls] - self._first] = codes[~nulls]
        if nulls.any():
            self._null = int(codes[nulls][0])
        return True

    def _of_values(self, values: Ints) -> Ints:
        places = values - self._first
        codes = self._entries[places]
        unknown = codes < 0
        if unknown.any():
            new = self._each_once(values[unknown])
            self._entries[new - self._first] = self._given(new)
            codes = self._entries[places]
        return codes.astype(np.int64)

    def _given(self, values: Ints) -> Ints:
        codes = self._codes.take(len(values))
        self.new.append((codes, [values]))
        return codes

    def _each_once(self, values: Ints) -> Ints:
        """The distinct values, ascending. If there are many, marking them in an array is faster than sorting."""
        if _SORT_WHEN_ENTRIES_PER_VALUE * len(values) < len(self._entries):
            ordered: Ints = np.sort(values)  # np.unique would hash them, which takes several times as long
            return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])])
        marked: Flags = np.zeros(len(self._entries), dtype=np.bool_)
        marked[values - self._first] = True
        return np.flatnonzero(marked) + self._first

    def _cover(self, values: Ints) -> bool:
        """Extend the array to cover all values; return False if it would become too large."""
        low, high, known = int(values.min()), int(values.max()), len(self._entries)
        if known and low >= self._first and high < self._first + known:
            return True
        most = max(_ANY_RANGE, min(_MOST_ENTRIES, _ENTRIES_PER_VALUE * (self._codes.used + len(values))))
        if known and max(high, self._first + known - 1) - min(low, self._first) >= most:
            self._narrow()  # perhaps only values that have been forgotten are far away
            known = len(self._entries)
        if known:
            low, high = min(low, self._first), max(high, self._first + known - 1)
        if high - low >= most:
            return False
        grown: _Entries = np.full(min(max(high - low + 1, 2 * known), most), -1, dtype=np.int32)
        grown[self._first - low :][:known] = self._entries
        self._entries, self._first = grown, low
        return True

    def _narrow(self) -> None:
        """Cut the array to the values that have codes."""
        known = np.flatnonzero(self._entries >= 0)
        first, stop = (int(known[0]), int(known[-1]) + 1) if len(known) else (0, 0)
        self._entries, self._first = self._entries[first:stop].copy(), self._first + first
