"""Semi-join reduction: drop new tuples whose value of a shared attribute some input does not have.

A walk would find that out step by step, with all partial results of the steps before. Here the distinct values of an
attribute are looked up in one input after the other, the smallest input first, and each drops some of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.kernel.multi_join.coding import InputCoding
from thalweg.kernel.multi_join.stored_input import StoredInput

_SORT_WHEN_CODES_PER_TUPLE = 16
_LEAST_INPUTS = 3  # that share an attribute; with two, the first step of a walk does the same


def reduced(
    news: Sequence[Batch], stored: Sequence[StoredInput], codings: Sequence[InputCoding], attributes: int
) -> list[Batch]:
    """The new tuples of each input, without tuples that lack a partner in some input."""
    rest = list(news)
    for attribute in range(attributes):
        inputs = [i for i, coding in enumerate(codings) if attribute in coding.attributes]
        if len(inputs) < _LEAST_INPUTS:
            continue
        lanes = {i: rest[i].columns[codings[i].code_column(attribute)] for i in inputs}
        codes = _distinct(np.concatenate(list(lanes.values())))
        for i in sorted(inputs, key=lambda i: stored[i].size):
            if stored[i].is_indexed_by(attribute):
                codes = codes[_among(codes, lanes[i]) | stored[i].has(attribute, codes)]
        for i in inputs:
            rows = _places(codes, lanes[i])[0]
            rest[i] = rest[i] if len(rows) == len(rest[i]) else rest[i].take(rows)
            # Only if all inputs share the attribute, every look-up of this batch has one of the codes.
            if len(inputs) == len(stored) and stored[i].is_indexed_by(attribute):
                stored[i].restrict(attribute, codes)
    return rest


def _distinct(codes: Ints) -> Ints:
    """The distinct codes, ascending: by counting, or by sorting if codes are sparse."""
    if int(codes.max(initial=0)) > _SORT_WHEN_CODES_PER_TUPLE * len(codes):
        return np.unique(codes)
    return np.bincount(codes).nonzero()[0]


def _among(codes: Ints, lane: Ints) -> Flags:
    """Which of the ascending codes a lane has."""
    flags = np.zeros(len(codes), dtype=np.bool_)
    flags[_places(codes, lane)[1]] = True
    return flags


def _places(codes: Ints, lane: Ints) -> tuple[Ints, Ints]:
    """The rows of a lane that have one of the ascending codes, and for each the position of its code."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    place = np.minimum(codes.searchsorted(lane), len(codes) - 1)
    rows = (codes.take(place) == lane).nonzero()[0]
    return rows, place.take(rows)
