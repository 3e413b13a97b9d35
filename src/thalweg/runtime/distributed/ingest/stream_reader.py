"""What a stream brings, as parcels: for every group that rows belong to, and at least one for every shard, so that each
learns the stream's clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import Expression
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FIRST_TIMESTAMP, FOREVER, LAST_TIMESTAMP, LONGEST, Instant
from thalweg.kernel.sweep.evaluate import Condition
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.message import BAD, TOO_LATE, Parcel
from thalweg.runtime.distributed.ingest.routing import (
    TIME,
    Ports,
    addressed,
    aside_blob,
    one_batch,
    split,
    spread_rows,
    without_bad_rows,
)

Answering = Callable[[Sequence[pa.RecordBatch]], Parcel]  # answers rows; gives what is left to tell a shard


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
        at_once: Answering | None = None,
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
        good, bad = without_bad_rows(table, width, self.source, self._wrong(time, system))
        parcels = [Parcel(0, BAD, part, BEGINNING, system, blob) for blob in bad]
        first, clock = _span(good.column(width))
        schema, needed = self.schema, tuple(range(width))
        if self.needed is not None:
            schema, needed = Schema(tuple(self.schema[i] for i in self.needed)), self.needed
            if first < before:
                late, good = split(good, pc.less(good.column(width), int(before)))
                blob = aside_blob(late.select(range(width + 1)), self.source)
                parcels.append(Parcel(0, TOO_LATE, part, BEGINNING, system, blob))
        good = good.select([*needed, width])
        if at_once is not None:
            in_time, good = good, good.slice(0, 0)
            if first < before:
                good, in_time = split(in_time, pc.less(in_time.column(len(schema)), int(before)))
            parcels.append(at_once([self._selected(rows, schema, before) for rows in in_time.to_batches()]))
        rows = self._selected(one_batch(good), schema, before)
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

    def _wrong(self, time: pa.ChunkedArray, system: int) -> tuple[tuple[pa.ChunkedArray, str], ...]:
        """Where rows are no tuples, and why; a look at the first and the last time mostly tells that all are."""
        low, high = (FIRST_TIMESTAMP, LAST_TIMESTAMP) if self.stamped else (-LONGEST, LONGEST)
        furthest = high if self.ahead is None else min(high, system + self.ahead)
        first, last = _span(time)
        if not time.null_count and low <= first and last <= furthest:
            return ()
        return (
            (pc.is_null(time), "no timestamp"),
            (pc.or_(pc.less(time, low), pc.greater(time, high)), "a time that no tuple can have"),
            (pc.greater(time, furthest), "ahead of the system's clock by more than is allowed"),
        )


def _span(time: pa.ChunkedArray) -> tuple[Instant, Instant]:
    """The first and the last of some times; of none, what is before and behind no other."""
    span = pc.min_max(time)
    return (FOREVER, BEGINNING) if span["min"].as_py() is None else (span["min"].as_py(), span["max"].as_py())
