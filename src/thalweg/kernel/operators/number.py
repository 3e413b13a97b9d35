"""Number: a stream's tuples with the order of their arrival."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.schema import Field, Schema
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Key, Operator


def numbered(schema: Schema) -> Schema:
    """The columns with the number as one more."""
    return Schema((*schema.fields, Field("number", DataType.BIGINT)))


class Number(Operator, kind="arrival-numbers/1"):
    """Each tuple with its admission order 0, 1, 2 ... as the last column (PatroumpasSellis2011 §3.3).

    A window above lets the number pass with the tuple, so that who hears that a tuple leaves knows which one it is. For
    base streams: those tell each tuple once. Update pattern: as the input's. State: how many have come.
    """

    KEPT = ("_next",)

    def __init__(self) -> None:
        self._next = 0

    @property
    def keys(self) -> tuple[Key, ...]:
        """Numbers are given in one place."""
        return ((),)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Numbers in order of time, then of arrival."""
        (batch,) = inputs
        start = batch.start
        if not (start[1:] >= start[:-1]).all():
            batch = batch.take(np.argsort(start, kind="stable"))
        numbers = np.arange(self._next, self._next + len(batch))
        self._next += len(batch)
        return batch.with_columns((*batch.columns, numbers))
