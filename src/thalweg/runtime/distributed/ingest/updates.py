"""Changes of a table that wait for their time: the rows that the table gains and loses, each from its time on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints, Lane, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.timeline import Timeline
from thalweg.runtime.distributed.ingest.table_contents import Changes, CountedContents, KeyedContents


class Updates(Stateful, kind="updates/1"):
    """Changes that wait for their time. None is late: a change with an earlier time counts from now on.

    `key` is the table's primary key, empty if it has none; None if the table never changes.
    """

    KEPT = ("_waiting", "_count", "_contents")

    def __init__(self, schema: Schema, key: Sequence[int] | None, dated: bool) -> None:
        self._dated = dated
        self._waiting = Timeline()
        self._count = 0  # changes so far, which orders those of one instant
        self._contents: KeyedContents | CountedContents | None = None  # of a table that changes
        if key is not None:
            self._contents = KeyedContents(schema, key) if key else CountedContents(schema)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, columns: Sequence[Lane], time: Ints, sign: Ints, before: Instant) -> None:
        """More changes."""
        order = np.arange(self._count, self._count + len(time))
        self._count += len(time)
        self._waiting.add(np.maximum(time, before), order, sign, *columns)

    def add_rows(self, table: pa.RecordBatch, schema: Schema, pool: StringPool, before: Instant) -> None:
        """More changes: a table's rows, then times and signs."""
        columns = [to_lane(table.column(i), field.type, pool) for i, field in enumerate(schema)]
        time, sign = (table.column(len(schema) + i).to_numpy() for i in (0, 1))
        self.add(columns, time, sign.astype(np.int64), before)

    def due(self, now: Instant) -> tuple[Batch, Batch] | None:
        """The rows gained and lost up to and at `now`, and the deletions that found no row."""
        due = self._waiting.due(now)
        if due is None:
            return None
        time, order, sign, *columns = due
        changes = Changes(time, sign, tuple(columns)).take(np.lexsort((order, time)))
        if self._contents is None:
            return self._batch(changes), self._batch(changes.take(slice(0)))
        applied, unmatched = self._contents.apply(changes)
        return self._batch(applied), self._batch(changes.take(unmatched))

    def _batch(self, changes: Changes) -> Batch:
        forever = np.full(len(changes.time), FOREVER)
        dates = Dates(np.full(len(changes.time), BEGINNING), forever) if self._dated else None
        return Batch(changes.columns, changes.time, forever, changes.sign.astype(np.int8), dates)
