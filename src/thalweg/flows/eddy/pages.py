"""Pages: an index for thousands of queries that only select, sorted by the attributes that they read.

Tuples are looked up page by page, in tables of few queries that stay in the cache, and only for the attributes that a
page needs. There is no bitmap over all queries at once: the hits of each page are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Ints
from thalweg.flows.eddy.bits import WORD, Words, hits
from thalweg.flows.eddy.recipients import Listed
from thalweg.flows.eddy.steps import BitmapSteps
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning


@dataclass(frozen=True)
class _Entry:
    """One attribute of a page: by piece of the whole index, the row of the page's own table."""

    filter: int
    rows: Ints
    table: Words


class Pages:
    """An index over several attributes, all of which must hold. It is rebuilt when queries change."""

    def __init__(self, bits: Ints, filters: Sequence[BitmapSteps], tuning: EddyTuning = DEFAULT) -> None:
        self._size = page = tuning.queries_per_page
        looks: npt.NDArray[np.bool_] = np.zeros((len(filters), int(bits.max(initial=0)) + 1), dtype=np.bool_)
        for place, steps in enumerate(filters):
            looks[place, steps.bits[steps.bits < looks.shape[1]]] = True
        looks = looks[:, bits]
        order = np.lexsort(looks) if len(filters) else np.arange(len(bits))
        self._bits: Ints = np.full(-(-len(bits) // page) * page, -1)
        self._bits[: len(bits)] = bits[order]
        looked = np.zeros((len(filters), len(self._bits)), dtype=np.bool_)
        looked[:, : len(bits)] = looks[:, order]
        needed: npt.NDArray[np.bool_] = np.logical_or.reduce(looked.reshape(len(filters), -1, page), axis=2)
        self._pages: list[list[_Entry]] = [[] for _ in range(len(self._bits) // page)]
        for place, steps in enumerate(filters):
            self._enter(place, steps, np.flatnonzero(needed[place]))

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return sum(entry.rows.nbytes + entry.table.nbytes for page in self._pages for entry in page)

    def look_up(self, pieces: Sequence[Ints], count: int) -> Listed:
        """The bits that remain for each tuple, given the pieces of its values by filter."""
        results, bits = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        lineage, found = (np.empty((count, self._size // WORD), dtype=np.uint64) for _ in range(2))
        for number, entries in enumerate(self._pages):
            mine = self._bits[number * self._size : (number + 1) * self._size]
            lineage[:] = _packed(mine >= 0)
            for entry in entries:  # all rows are valid; mode="raise" would make one more copy
                np.take(entry.table, entry.rows.take(pieces[entry.filter]), axis=0, out=found, mode="clip")
                lineage &= found
            rows, places = hits(lineage)
            results.append(rows)
            bits.append(mine[places])
        return Listed(np.concatenate(results), np.concatenate(bits))

    def _enter(self, place: int, steps: BitmapSteps, pages: Ints) -> None:
        """The tables of some pages for one attribute."""
        where = np.full(len(steps.first) * WORD, -1)
        known = self._bits >= 0
        where[self._bits[known]] = np.flatnonzero(known)
        flips, bits = steps.flips
        mine = where[bits]
        order = np.argsort(mine // self._size, kind="stable")
        flips, mine = flips[order], mine[order]
        bounds = np.searchsorted(mine // self._size, np.append(pages, pages + 1)).reshape(2, -1).T
        first, null = (self._of_all(row) for row in (steps.first, steps.null))
        for page, (begin, end) in zip(pages.tolist(), bounds.tolist(), strict=True):
            cuts, row = np.unique(flips[begin:end], return_inverse=True)
            table = np.zeros((len(cuts) + 2, self._size // WORD), dtype=np.uint64)
            table[0] = first[page]
            flipped = mine[begin:end] % self._size
            values = np.uint64(1) << (flipped % WORD).astype(np.uint64)
            np.bitwise_xor.at(table, (row + 1, flipped // WORD), values)
            np.bitwise_xor.accumulate(table, axis=0, out=table)
            table[-1] = null[page]
            rows = np.searchsorted(cuts, np.arange(steps.last + 1), side="right")
            rows[-1] = len(cuts) + 1
            self._pages[page].append(_Entry(place, rows, table))

    def _of_all(self, row: Words) -> Words:
        """A bitmap over all bits, page by page."""
        has = np.unpackbits(np.ascontiguousarray(row, dtype="<u8").view(np.uint8), bitorder="little").view(np.bool_)
        return _packed(np.where(self._bits >= 0, has[self._bits], False)).reshape(-1, self._size // WORD)


def _packed(has: npt.NDArray[np.bool_]) -> Words:
    return np.packbits(has, bitorder="little").view("<u8").astype(np.uint64, copy=False)
