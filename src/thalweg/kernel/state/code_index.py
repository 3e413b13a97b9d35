"""Tuples of a key, found as one slice."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints

# A table by code beats a binary search, unless it would be this many times as long as what it leads to.
_SPARSE = 16


class CodeIndex:
    """Where the tuples of each code stand among tuples sorted by code."""

    def __init__(self, codes: Ints) -> None:
        self._table: Ints | None = None
        self._base = int(codes[0]) if len(codes) else 0
        if not len(codes) or int(codes[-1]) - self._base < _SPARSE * len(codes):
            self._table = np.append(0, np.cumsum(np.bincount(codes - self._base)))  # how many have a lesser code
        else:
            self._known, self._first, self._count = np.unique(codes, return_index=True, return_counts=True)

    def find(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each code the first place of its tuples and their number."""
        if self._table is None:
            place = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
            return self._first[place], np.where(self._known[place] == codes, self._count[place], 0)
        place = codes - self._base
        first = self._table.take(place, mode="clip")  # codes below all and above all have no tuples
        place += 1
        return first, self._table.take(place, mode="clip") - first
