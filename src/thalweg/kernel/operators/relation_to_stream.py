"""ISTREAM and DSTREAM: the insertions into a relation, or the deletions from it, as a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import join_runs
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Key, Operator, columns_key
from thalweg.kernel.sweep.events import TupleEvents, stream_tuples
from thalweg.kernel.sweep.ordering import together
from thalweg.kernel.sweep.segments import run_sums


class _Differences(Operator):
    """The net change of each row at each instant, if it has the operator's sign.

    A later batch may bring more changes of the current instant; then negative tuples at that instant delete what
    should not have been emitted.

    State: the rows whose known ends are not due, and the net changes at the current instant.
    """

    _sign: ClassVar[int]

    KEPT = ("_ends", "_open_rows", "_open_net", "_clock")

    def __init__(self, schema: Schema, *, dated: bool = False) -> None:
        self._schema = schema
        self._dated = dated
        self._ends = TupleEvents()
        self._open_rows = Batch.empty(schema).columns
        self._open_net = np.empty(0, dtype=np.int64)
        self._clock: Instant = BEGINNING

    @property
    def keys(self) -> tuple[Key, ...]:
        """All columns: changes of equal rows cancel."""
        return (columns_key(self._schema, range(len(self._schema))),)

    @property
    def stored(self) -> int:
        """Rows with pending ends, and rows that changed at the current instant."""
        return len(self._ends) + len(self._open_net)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The stream tuples up to `now`."""
        (batch,) = inputs
        time, weight, *columns = self._ends.of(batch.start, batch.end, batch.sign, batch.columns, now)
        events = [(time, weight, np.zeros(len(time), dtype=np.int64), *columns)]
        if len(self._open_net):
            none = np.zeros(len(self._open_net), dtype=np.int64)
            events.append((none + self._clock, none, self._open_net, *self._open_rows))
        self._clock = now
        time, weight, earlier, *columns = join_runs(events)
        return self._emit(time, weight, earlier, columns, now)

    def _emit(self, time: Ints, weight: Ints, earlier: Ints, columns: Sequence[Lane], now: Instant) -> Batch:
        """The difference to the stream tuples of earlier batches; `earlier` are net changes that these brought."""
        order, starts = together([time, *columns])
        first = order[starts]
        before = run_sums(earlier[order], starts)
        net = before + run_sums(weight[order], starts)
        open_ = (time[first] == now) & (net != 0)
        self._open_rows = tuple(column[first[open_]] for column in columns)
        self._open_net = net[open_]
        copies = np.maximum(self._sign * net, 0) - np.maximum(self._sign * before, 0)
        rows = np.repeat(first, np.abs(copies))
        signs = np.repeat(np.sign(copies), np.abs(copies)).astype(np.int8)
        return stream_tuples([column[rows] for column in columns], time[rows], signs, self._dated)


class IStream(_Differences, kind="istream/1"):
    """ISTREAM(R): at t the bag R(t) - R(just before t), as endless tuples.

    Update pattern: MON. Paper: PatroumpasSellis2011 §2; W8.
    """

    _sign = 1


class DStream(_Differences, kind="dstream/1"):
    """DSTREAM(R): at t the bag R(just before t) - R(t), as endless tuples.

    Update pattern: MON. Paper: PatroumpasSellis2011 §2; W8.
    """

    _sign = -1
