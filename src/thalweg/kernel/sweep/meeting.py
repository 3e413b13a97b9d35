"""Which tuples meet in a batch of a join: how many pairs there are, and by which key most of them meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.kernel.state.buffers import Buffer


class Meeting(NamedTuple):
    """The pairs of tuples with equal keys, of which one is new; the code of the hottest key, its pairs and tuples."""

    pairs: int
    hottest: int
    hottest_pairs: int
    hottest_left: int
    hottest_right: int


def meeting(new: Sequence[Ints], stored: Sequence[Buffer]) -> Meeting:
    """Given for both sides the codes of new tuples, at least one, and the stored tuples.

    Pairs are counted by key alone: some may not be alive together, or may not satisfy the rest of the condition.
    """
    codes = np.unique(np.concatenate(new))
    new_left, new_right = (np.bincount(np.searchsorted(codes, own), minlength=len(codes)) for own in new)
    old_left, old_right = (_stored(buffer, codes) for buffer in stored)
    left, right = new_left + old_left, new_right + old_right
    pairs = left * right - old_left * old_right
    place = int(np.argmax(pairs))
    return Meeting(int(pairs.sum()), int(codes[place]), int(pairs[place]), int(left[place]), int(right[place]))


def _stored(buffer: Buffer, codes: Ints) -> Ints:
    total = np.zeros(len(codes), dtype=np.int64)
    for _, _, count in buffer.probe(codes):
        total += count
    return total
