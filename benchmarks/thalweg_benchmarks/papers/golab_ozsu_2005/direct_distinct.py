"""Duplicate elimination as in the literature (GolabOzsu2005 §2.1), which stores its input and its output.

When a value's output tuple ends, the operator scans its input for the youngest tuple with that value. The paper
replaces it by delta* (section 5.3.1); this one is the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.state.table import ByCode, KeyTable

_Pieces = tuple[Ints, Ints, Ints]  # values, starts, ends


class DirectDistinct(Operator, kind="bench-direct-distinct/1"):
    """Each value once while any tuple has it; for inputs whose tuples end in order of arrival."""

    KEPT = ("_rows", "_until", "_code", "_start", "_end")

    def __init__(self, schema: Schema) -> None:
        self._rows = KeyTable(schema.types)
        self._until = ByCode(np.int64, BEGINNING)  # by value: the end of its output tuple
        self._now = BEGINNING
        self._code, self._start, self._end = (np.empty(0, dtype=np.int64) for _ in range(3))  # the input

    @property
    def stored(self) -> int:
        """The tuples of the input and of the output."""
        return len(self._code) + int((self._until.values > self._now).sum())

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Emit values that appear, and replacements for output tuples that end, until nothing changes."""
        (batch,) = inputs
        code = self._rows.encode(batch.columns, len(batch))
        self._until.fit(self._rows.size)
        first = len(self._code)
        self._code = np.concatenate([self._code, code])
        self._start = np.concatenate([self._start, batch.start])
        self._end = np.concatenate([self._end, batch.end])
        emitted = [(none := np.empty(0, dtype=np.int64), none, none)]
        while True:  # in a batch an output tuple may end more than once, and a value may return
            while len((replaced := self._replace(now))[0]):
                emitted.append(replaced)
            emitted.append(self._appear(first))
            if not len(emitted[-1][0]):
                break
        alive = self._end > now
        self._code, self._start, self._end = self._code[alive], self._start[alive], self._end[alive]
        self._now = now
        codes, start, end = (np.concatenate(lanes) for lanes in zip(*emitted, strict=True))
        return Batch(self._rows.decode(codes), start, end, np.ones(len(codes), dtype=np.int8))

    def _appear(self, first: int) -> _Pieces:
        """For each value without an output tuple, its first new tuple."""
        code, start = self._code[first:], self._start[first:]
        new = np.flatnonzero(start > self._until.values[code])
        values, where = np.unique(code[new], return_index=True)
        rows = new[where] + first
        self._until.values[values] = self._end[rows]
        return values, self._start[rows], self._end[rows]

    def _replace(self, now: Instant) -> _Pieces:
        """For each output tuple that has ended, the youngest tuple with its value that is alive then, if any."""
        until = self._until.values
        due = np.flatnonzero((until > BEGINNING) & (until <= now))
        wanted = np.full(len(until), BEGINNING)
        wanted[due] = until[due]
        ended = wanted[self._code]
        met = np.flatnonzero((ended > BEGINNING) & (self._start <= ended) & (self._end > ended))
        youngest = np.full(len(until), -1)
        youngest[self._code[met]] = met  # the last assignment wins: the youngest
        values = due[youngest[due] >= 0]
        rows, start = youngest[values], until[values].copy()
        self._until.values[values] = self._end[rows]
        return values, start, self._end[rows]
