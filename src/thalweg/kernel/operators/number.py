"""Number: add the number of its arrival to each tuple of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.operator import Key, Operator


class Number(Operator, kind="arrival-numbers/1"):
    """Each tuple with its admission order 0, 1, 2 ... as its last column.

    A window above keeps the number with the tuple, so that a negative tuple says which tuple leaves. The input must be
    a base stream, which has no negative tuples.
    Update pattern: the input's. State: the next number. Paper: PatroumpasSellis2011 §3.3.
    """

    KEPT = ("_next",)

    def __init__(self) -> None:
        self._next = 0

    @property
    def keys(self) -> tuple[Key, ...]:
        """One process must number all tuples."""
        return ((),)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Number tuples in order of time, then of arrival."""
        (batch,) = inputs
        start = batch.start
        if not (start[1:] >= start[:-1]).all():
            batch = batch.take(np.argsort(start, kind="stable"))
        numbers = np.arange(self._next, self._next + len(batch))
        self._next += len(batch)
        return batch.with_columns((*batch.columns, numbers))
