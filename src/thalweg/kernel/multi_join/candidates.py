"""Candidate tuples of the next input, paired with partial results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.kernel.multi_join.partial import ScatteredRows
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.pairs import pairs

# Tuples, and for each partial result the position of its first candidate and the number of its candidates
Slices = tuple[Batch | TupleRun, Ints, Ints]


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
