"""Which new tuples can be part of a result at all: those whose value every input that shares the attribute has.

A walk would find that out step by step, each with all that its steps before had found. Here an attribute's values go
from input to input, the smallest first, and fewer arrive at each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.kernel.multi_join.coded import Coding
from thalweg.kernel.multi_join.stored import Stored

_SPARSE = 16  # times as many codes as there are tuples
_INPUTS = 3  # that share an attribute; with two, the first step of a walk finds the same


def reduced(news: Sequence[Batch], stored: Sequence[Stored], codings: Sequence[Coding], attributes: int) -> list[Batch]:
    """The new tuples of each input without those that lack a partner."""
    left = list(news)
    for attribute in range(attributes):
        inputs = [i for i, coding in enumerate(codings) if attribute in coding.attributes]
        if len(inputs) < _INPUTS:
            continue
        lanes = {i: left[i].columns[codings[i].place(attribute)] for i in inputs}
        codes = _distinct(np.concatenate(list(lanes.values())))
        for i in sorted(inputs, key=lambda i: stored[i].size):
            if stored[i].is_indexed_by(attribute):
                codes = codes[_among(codes, lanes[i]) | stored[i].has(attribute, codes)]
        for i in inputs:
            rows = _places(codes, lanes[i])[0]
            left[i] = left[i] if len(rows) == len(left[i]) else left[i].take(rows)
            if len(inputs) == len(stored) and stored[i].is_indexed_by(attribute):  # else some come by another way
                stored[i].narrow(attribute, codes)
    return left


def _distinct(codes: Ints) -> Ints:
    """In ascending order: by counting, unless codes lie far apart."""
    if int(codes.max(initial=0)) > _SPARSE * len(codes):
        return np.unique(codes)
    return np.bincount(codes).nonzero()[0]


def _among(codes: Ints, lane: Ints) -> Flags:
    """Which of some codes, ascending, a lane has."""
    flags = np.zeros(len(codes), dtype=np.bool_)
    flags[_places(codes, lane)[1]] = True
    return flags


def _places(codes: Ints, lane: Ints) -> tuple[Ints, Ints]:
    """The rows of a lane that have one of the codes, and where each has it."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    place = np.minimum(codes.searchsorted(lane), len(codes) - 1)
    rows = (codes.take(place) == lane).nonzero()[0]
    return rows, place.take(rows)
