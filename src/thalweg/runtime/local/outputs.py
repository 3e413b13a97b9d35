"""Everything a pipeline has put out, as intervals: the answer at any instant is a filter on them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, from_lane
from thalweg.core.rows import Bag, Change, Row, row_key
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.state.timeline import Timeline

_TIMES = (DataType.TIMESTAMP, DataType.INTERVAL)


class OutputLog:
    """Rows are known by code; only rows that are asked for are turned into Python values."""

    def __init__(self, schema: Schema, pool: StringPool) -> None:
        self._schema, self.pool = schema, pool
        self.keys = KeyTable.of_width(len(schema))  # it names strings of the pool
        self._rows: list[Row] = []  # by code
        self._intervals: list[tuple[Ints, Ints, Ints, Ints]] = []  # code, start, end, sign
        self._events = Timeline()

    def add(self, batch: Batch) -> None:
        """More output."""
        if not len(batch):
            return
        codes = self.keys.encode(batch.columns, len(batch))
        self._remember(codes, batch)
        sign = batch.sign.astype(np.int64)
        self._intervals.append((codes, batch.start, batch.end, sign))
        ending = batch.end < FOREVER
        self._events.add(batch.start, codes, sign)
        self._events.add(batch.end[ending], codes[ending], -sign[ending])

    def answer(self, t: Instant) -> Bag:
        """The bag at t."""
        counts = np.zeros(len(self._rows), dtype=np.int64)
        for codes, start, end, sign in self._intervals:
            alive = (start <= t) & (t < end)
            np.add.at(counts, codes[alive], sign[alive])
        return Counter({self._rows[code]: int(counts[code]) for code in np.flatnonzero(counts)})

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """What has begun and ended since the last call, up to and at `now`: net, in order, losses first."""
        due = self._events.due(now)
        if due is None:
            return []
        time, codes, sign = due
        keys, places = np.unique(np.stack([np.maximum(time, first), codes]), axis=1, return_inverse=True)
        net = np.zeros(keys.shape[1], dtype=np.int64)
        np.add.at(net, places.ravel(), sign)
        changes = [
            Change(int(keys[0, i]), 1 if net[i] > 0 else -1, self._rows[keys[1, i]])
            for i in np.flatnonzero(net)
            for _ in range(abs(int(net[i])))
        ]
        return sorted(changes, key=lambda c: (c.t, c.sign, row_key(c.row)))

    def _remember(self, codes: Ints, batch: Batch) -> None:
        """The rows of codes that are new, as Python values."""
        new = np.flatnonzero(codes >= len(self._rows))
        if not len(new):
            return
        found, first = np.unique(codes[new], return_index=True)
        picked = batch.take(new[first])
        columns = [from_lane(c, f.type, self.pool) for c, f in zip(picked.columns, self._schema, strict=True)]
        ints = [c.cast("int64") if f.type in _TIMES else c for c, f in zip(columns, self._schema, strict=True)]
        rows = list(zip(*(c.to_pylist() for c in ints), strict=True)) if ints else [()] * len(found)
        self._rows += rows
