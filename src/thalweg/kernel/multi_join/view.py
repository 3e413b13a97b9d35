"""An input as a walk sees it: its stored tuples, tuples of the batch, and candidates among them for partial results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.kernel.multi_join.partial import ScatteredRows
from thalweg.kernel.multi_join.stored_input import StoredInput
from thalweg.kernel.state.indexes import CodeIndex, TimeIndex
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.pairs import pairs
from thalweg.kernel.tuning import DEFAULT, Tuning

# Tuples, and for each partial result the position of its first candidate and the number of its candidates
Slices = tuple[Batch | TupleRun, Ints, Ints]


class UnstoredTuples:
    """Tuples that are not stored, with an index for each attribute that is looked up."""

    def __init__(self, tuples: Batch) -> None:
        self.tuples = tuples
        self._indexes: dict[int, tuple[CodeIndex | TimeIndex, Batch]] = {}

    def probe(self, column: int, codes: Ints, since: Ints, until: Ints) -> list[Slices]:
        """For each code and interval the tuples that have the code in `column` and are alive in the interval."""
        if not len(self.tuples):
            return []
        if column not in self._indexes:
            self._indexes[column] = self._index(column)
        index, ordered = self._indexes[column]
        found = index.find(codes) if isinstance(index, CodeIndex) else index.find(codes, since, until)
        return [(ordered, *found)]

    def _index(self, column: int) -> tuple[CodeIndex | TimeIndex, Batch]:
        """An index by code and time, or by code alone if all tuples are alive at the same time."""
        codes, start, end = self.tuples.columns[column], self.tuples.start, self.tuples.end
        if end.min() > start.max():
            order = codes.argsort(kind="stable")
            return CodeIndex(codes.take(order)), self.tuples.take(order)
        index = TimeIndex(codes, start, end)
        return index, self.tuples.take(index.order)


class InputView:
    """Stored and unstored tuples of an input; of the source, only the new tuples."""

    def __init__(
        self, stored: StoredInput, unstored: UnstoredTuples, is_source: bool = False, tuning: Tuning = DEFAULT
    ) -> None:
        self._stored, self._unstored, self._is_source = stored, unstored, is_source
        self._pairs_at_once = tuning.pairs_at_once

    def is_indexed_by(self, attribute: int) -> bool:
        """Whether tuples can be looked up by an attribute; otherwise all tuples are scanned."""
        return self._stored.is_indexed_by(attribute)

    def everything(self) -> Iterator[Batch | TupleRun]:
        """All tuples."""
        if not self._is_source:
            yield from self._stored.runs
        if len(self._unstored.tuples):
            yield self._unstored.tuples

    def probe(self, attribute: int, column: int, codes: Ints, since: Ints, until: Ints) -> Iterator[Candidates]:
        """The tuples with these codes of an attribute; some of them may have ended."""
        stored = [] if self._is_source else self._stored.probe(attribute, codes, since)
        unstored = self._unstored.probe(column, codes, since, until)
        return candidates([*stored, *unstored], len(codes), self._pairs_at_once)


class Candidates(NamedTuple):
    """Pairs: rows of partial results, and for each a candidate tuple of the next input."""

    rows: Ints
    tuples: ScatteredRows


def candidates(slices: Sequence[Slices], partials: int, at_once: int) -> Iterator[Candidates]:
    """The pairs of several slices, made together, up to about `at_once` pairs at a time."""
    if not slices:
        return
    begins = partials * np.arange(len(slices) + 1)
    first = np.concatenate([first for _, first, _ in slices])
    count = np.concatenate([count for _, _, count in slices])
    for rows, places in pairs(first, count, at_once):
        cuts = rows.searchsorted(begins).tolist()
        pieces = []
        for k, (begin, end) in enumerate(pairwise(cuts)):
            rows[begin:end] -= begins[k]
            if begin < end:
                pieces.append((slices[k][0], places[begin:end]))
        yield Candidates(rows, ScatteredRows(tuple(pieces)))
