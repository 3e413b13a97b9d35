"""What a stream brings, as parcels: for every group that rows belong to, and at least one for every shard, so that each
learns the stream's clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import Expression
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FIRST_TIMESTAMP, LAST_TIMESTAMP, LONGEST, Instant
from thalweg.operators.evaluate import Condition
from thalweg.runtime.shards.layouts import Layouts
from thalweg.runtime.shards.parcel import BAD, TOO_LATE, Parcel
from thalweg.runtime.shards.sourced import (
    TIME,
    Ports,
    addressed,
    aside_blob,
    one_batch,
    split,
    spread_rows,
    without_bad_rows,
)


@dataclass(frozen=True)
class Reading:
    """How to read a stream. Its rows are the schema's columns and TIME, perhaps REASON and TEXT."""

    source: str
    schema: Schema
    ports: Ports
    layouts: Layouts
    stamped: bool
    ahead: int | None = None  # how far a row's time may be ahead of the system's clock, in microseconds
    needed: tuple[int, ...] | None = None  # the columns that the query reads, if others come for late rows' sake
    condition: Expression | None = None  # over the columns that are read: other rows matter only by their time

    @property
    def minds_the_clock(self) -> bool:
        """Whether it must know what the query's time is."""
        return self.needed is not None or self.condition is not None

    def parcels(
        self,
        table: pa.Table,
        part: int,
        system: int,
        before: Instant = BEGINNING,
        at_once: Callable[[pa.RecordBatch], Parcel] | None = None,
    ) -> list[Parcel]:
        """The rows of one part for every port and group; those that are no tuples go to group 0 with the reason.

        `system` is the system's clock as of the batch, in microseconds, `before` the query's when the batch began.
        Where columns come that are not needed, rows behind that are late and go to group 0 whole. If the query is
        answered `at_once`, only late rows are sent on.
        """
        if not table.num_rows:
            return []
        width = len(self.schema)
        time = table.column(width).cast(pa.int64())
        table = table.set_column(width, TIME, time)
        wrong = (
            (pc.is_null(time), "no timestamp"),
            (self._out_of_range(time), "a time that no tuple can have"),
            (self._too_far(time, system), "ahead of the system's clock by more than is allowed"),
        )
        good, bad = without_bad_rows(table, width, self.source, wrong)
        parcels = [Parcel(0, BAD, part, BEGINNING, system, blob) for blob in bad]
        clock = pc.max(good.column(width)).as_py() if good.num_rows else BEGINNING
        schema, needed = self.schema, tuple(range(width))
        if self.needed is not None:
            schema, needed = Schema(tuple(self.schema[i] for i in self.needed)), self.needed
            late, good = split(good, pc.less(good.column(width), int(before)))
            if late.num_rows:
                blob = aside_blob(late.select(range(width + 1)), self.source)
                parcels.append(Parcel(0, TOO_LATE, part, BEGINNING, system, blob))
        rows = self._selected(one_batch(good.select([*needed, width])), schema, before)
        if at_once is not None:
            rows, in_time = split(rows, pc.less(rows.column(len(schema)), int(before)))
            parcels += [at_once(in_time)] if in_time.num_rows else []
        for port, key in self.ports:
            blobs = spread_rows(rows, schema, key, self.layouts)
            parcels += addressed(blobs, Parcel(0, port, part, clock, system, b""), self.layouts)
        return parcels

    def _selected(self, rows: pa.RecordBatch, schema: Schema, before: Instant) -> pa.RecordBatch:
        """The rows that matter; late ones do, since they are counted and kept."""
        if self.condition is None or not rows.num_rows:
            return rows
        pool = StringPool()
        test = Condition(self.condition, schema, pool)
        lanes = [to_lane(rows.column(i), schema[i].type, pool) for i in test.reads]
        holds = test.holds_on(lanes, rows.num_rows) | (rows.column(len(schema)).to_numpy() < before)
        return rows if holds.all() else rows.filter(pa.array(holds))

    def _out_of_range(self, time: pa.ChunkedArray) -> pa.ChunkedArray:
        low, high = (FIRST_TIMESTAMP, LAST_TIMESTAMP) if self.stamped else (-LONGEST, LONGEST)
        return pc.or_(pc.less(time, low), pc.greater(time, high))

    def _too_far(self, time: pa.ChunkedArray, system: int) -> pa.ChunkedArray:
        return pc.greater(time, pa.scalar(None if self.ahead is None else system + self.ahead, pa.int64()))
