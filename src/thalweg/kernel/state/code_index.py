"""An index over tuples sorted by code: the tuples of a code are one slice."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints

# A table by code is faster than a binary search, but takes too much memory if codes are sparse.
_MOST_TABLE_ENTRIES_PER_TUPLE = 16


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
