"""Where an input's candidates lie, and the pairs that they make with partial results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.kernel.multi_join.partial import Spread
from thalweg.kernel.state.run import Run
from thalweg.kernel.sweep.pairs import pairs

Slices = tuple[Batch | Run, Ints, Ints]  # tuples, and for each partial result the first candidate and their number


class Candidates(NamedTuple):
    """Rows of partial results, and for each a candidate of the new input."""

    rows: Ints
    tuples: Spread


def candidates(slices: Sequence[Slices], partials: int) -> Iterator[Candidates]:
    """All pairs, a piece at a time; what lies in different places is paired in one go."""
    if not slices:
        return
    begins = partials * np.arange(len(slices) + 1)
    for rows, places in pairs(*(np.concatenate(lanes) for lanes in list(zip(*slices, strict=True))[1:])):
        cuts = rows.searchsorted(begins).tolist()
        pieces = []
        for k, (begin, end) in enumerate(pairwise(cuts)):
            rows[begin:end] -= begins[k]
            if begin < end:
                pieces.append((slices[k][0], places[begin:end]))
        yield Candidates(rows, Spread(tuple(pieces)))
