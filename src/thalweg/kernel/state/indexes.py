"""Indexes over sorted tuples: the tuples of a code, or of a code and an interval of time, are one slice."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.core.time import FOREVER

# A table by code is faster than a binary search, but takes too much memory if codes are sparse.
_MOST_TABLE_ENTRIES_PER_TUPLE = 16

_PACKED_BITS = 62  # for a code and a time together


class CodeIndex:
    """For each code the slice of its tuples, given the ascending codes of the tuples."""

    def __init__(self, codes: Ints) -> None:
        self._table: Ints | None = None
        self._base = int(codes[0]) if len(codes) else 0
        if not len(codes) or int(codes[-1]) - self._base < _MOST_TABLE_ENTRIES_PER_TUPLE * len(codes):
            self._table = np.append(0, np.cumsum(np.bincount(codes - self._base)))  # tuples with a lesser code
        else:
            self._known, self._first, self._count = np.unique(codes, return_index=True, return_counts=True)

    def find(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each code the position of its first tuple, and the number of its tuples."""
        if self._table is None:
            place = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
            return self._first[place], np.where(self._known[place] == codes, self._count[place], 0)
        place = codes - self._base
        first = self._table.take(place, mode="clip")  # codes outside the table have no tuples
        place += 1
        return first, self._table.take(place, mode="clip") - first


class TimeIndex:
    """Intervals sorted by (code, start), with the latest end so far beside them.

    A search returns the tuples that start before `until`, without a prefix of tuples that have all ended by `since`.
    If tuples end in the order in which they start (FIFO), these are exactly the tuples alive in [since, until);
    otherwise there are some more, which the caller must drop.
    """

    def __init__(self, codes: Ints, start: Ints, end: Ints) -> None:
        self._last_code = int(codes.max(initial=-1)) + 1  # stands for codes that are not in the index
        self._base = int(start.min(initial=FOREVER))
        self._top = max(int(start.max(initial=self._base)), int(end.max(initial=self._base, where=end < FOREVER)))
        time_bits = (self._top + 1 - self._base).bit_length()
        # If a code and a time do not fit, times lose their lowest bits: a search finds more, and misses nothing.
        self._coarse = max(0, time_bits + self._last_code.bit_length() - _PACKED_BITS)
        self._time_bits = max(0, time_bits - self._coarse)
        packed = self._pack(codes, start)
        self.order = np.argsort(packed)
        self._starts = packed[self.order]
        # The maxima of a code do not depend on lesser codes: a higher code makes a greater integer than all before.
        self._ends = np.maximum.accumulate(self._pack(codes, end)[self.order])

    def find(self, codes: Ints, since: Ints, until: Ints) -> tuple[Ints, Ints]:
        """For each code and interval [since, until) the first position in `order`, and the number of positions."""
        known = np.minimum(codes, self._last_code)
        begun = self._pack(known, until)
        ended = self._pack(known, np.minimum(since, self._top))  # after the last end only endless tuples live
        if self._coarse:
            last, first = np.searchsorted(self._starts, begun, "right"), np.searchsorted(self._ends, ended, "left")
        else:
            last, first = np.searchsorted(self._starts, begun, "left"), np.searchsorted(self._ends, ended, "right")
        return first, np.maximum(last - first, 0)

    def _pack(self, codes: Ints, times: Ints) -> Ints:
        ticks = np.maximum(np.minimum(times, self._top + 1), self._base) - self._base
        return (codes << self._time_bits) | (ticks >> self._coarse)
