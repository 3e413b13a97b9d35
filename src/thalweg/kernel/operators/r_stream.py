"""RSTREAM: the whole relation, whenever it changes, as a stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import join_runs
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.sweep.events import stream_tuples
from thalweg.kernel.sweep.ordering import net
from thalweg.kernel.sweep.segments import slices_to_rows

# The lanes of tuples: signed intervals, then ts, then columns.
_START, _END, _WEIGHT, _TS = 0, 1, 2, 3
_Rows = tuple[Lane, ...]


class RStream(Operator, kind="rstream/1"):
    """RSTREAM(R): at every instant t at which the bag of (row, ts) changes, all of R(t), as endless tuples.

    A later batch may bring more changes of the current instant; then negative tuples at that instant delete what
    should not have been emitted. The input must be dated.

    Update pattern: MON. State: the alive tuples, and the net changes at the current instant. Paper:
    PatroumpasSellis2011 §2; W8.
    """

    KEPT = ("_alive", "_open_changes", "_clock")

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._alive = _rows(Batch.empty(schema, dated=True))
        self._open_changes = self._alive  # net changes at the current instant, as rows that start at it
        self._clock: Instant = BEGINNING

    @property
    def keys(self) -> tuple[Key, ...]:
        """One process must see all tuples."""
        return ((),)

    @property
    def stored(self) -> int:
        """Alive tuples, and changes at the current instant."""
        return len(self._alive[_START]) + len(self._open_changes[_START])

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The stream tuples up to `now`."""
        old, new = self._alive, _rows(inputs[0])
        emitted = len(self._open_changes[_START]) > 0
        rows = join_runs([old, new])
        instants = self._instants(rows, len(old[_START]), now)
        emits = bool((instants == self._clock).any())
        # At the previous instant, old tuples have been emitted already, or are emitted now, or are deleted now.
        first = self._clock if emits and not emitted else self._clock + 1
        start = np.concatenate([np.full(len(old[_START]), first), new[_START]])
        parts = [_occurrences(start, rows, instants)]
        if emitted and not emits:
            parts.append((np.arange(len(old[_START])), np.full(len(old[_START]), self._clock), -old[_WEIGHT]))
        self._clock = now
        self._alive = _alive(rows, now)
        return self._emit(rows, *join_runs(parts))

    def _instants(self, rows: _Rows, old: int, now: Instant) -> Ints:
        """The ascending instants at which the relation changes; changes at `now` stay open. `old` rows are not new."""
        ending = rows[_END] <= now
        events = [
            (rows[_START][old:], rows[_WEIGHT][old:], *(lane[old:] for lane in rows[_TS:])),
            (rows[_END][ending], -rows[_WEIGHT][ending], *(lane[ending] for lane in rows[_TS:])),
            (self._open_changes[_START], *self._open_changes[_WEIGHT:]),
        ]
        time, weight, *row = join_runs(events)
        left, signs = net([time, *row], weight)
        open_ = time[left] == now
        at = left[open_]
        self._open_changes = (time[at], time[at], signs[open_], *(lane[at] for lane in row))
        return np.unique(time[left])

    def _emit(self, rows: _Rows, which: Ints, time: Ints, weight: Ints) -> Batch:
        columns = [lane[which] for lane in rows[_TS + 1 :]]
        if bool((weight < 0).any()):
            left, weight = net([time, *columns], weight)
            columns, time = [column[left] for column in columns], time[left]
        return stream_tuples(columns, time, weight.astype(np.int8), dated=True)


def _rows(batch: Batch) -> _Rows:
    assert batch.dates is not None, "RSTREAM recognises by its ts a row that returns"
    return (batch.start, batch.end, batch.sign.astype(np.int64), batch.dates.ts, *batch.columns)


def _occurrences(start: Ints, rows: _Rows, instants: Ints) -> tuple[Ints, Ints, Ints]:
    """Each row at each of the instants from its start until its end: the row, the instant, its weight."""
    first = np.searchsorted(instants, start)
    count = np.maximum(np.searchsorted(instants, rows[_END]) - first, 0)
    which = np.repeat(np.arange(len(first)), count)
    return which, instants[slices_to_rows(first, count)], rows[_WEIGHT][which]


def _alive(rows: _Rows, now: Instant) -> _Rows:
    """The rows that are alive after `now`, without pairs of opposite signs."""
    rows = tuple(lane[rows[_END] > now] for lane in rows)
    if bool((rows[_WEIGHT] < 0).any()):
        left, signs = net([rows[_END], *rows[_TS:]], rows[_WEIGHT])
        rows = (rows[_START][left], rows[_END][left], signs, *(lane[left] for lane in rows[_TS:]))
    return rows
