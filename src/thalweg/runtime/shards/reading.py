"""What a source brings, as parcels: for every group that rows belong to, and at least one for every shard, so that each
learns the source's clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import Expression, columns_of
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FIRST_TIMESTAMP, LAST_TIMESTAMP, LONGEST, Instant
from thalweg.operators.evaluate import Condition
from thalweg.planner.shards import EVERYWHERE, Placement
from thalweg.runtime.shards.codec import pack
from thalweg.runtime.shards.layouts import Layouts
from thalweg.runtime.shards.parcel import BAD, TOO_LATE, Parcel
from thalweg.runtime.shards.spread import Spread, in_groups

# Columns behind a source's own, in this order; tables have SIGN, streams have not. REASON says why a row is no tuple,
# TEXT what it was before anybody tried to read it: a source that cannot tell leaves them out.
TIME, SIGN, REASON, TEXT = "_time", "_sign", "_reason", "_text"

Ports = tuple[tuple[int, Placement], ...]
Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


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
        good, bad = _without_bad_rows(table, width, self.source, wrong)
        parcels = [Parcel(0, BAD, part, BEGINNING, system, blob) for blob in bad]
        clock = pc.max(good.column(width)).as_py() if good.num_rows else BEGINNING
        schema, needed = self.schema, tuple(range(width))
        if self.needed is not None:
            schema, needed = Schema(tuple(self.schema[i] for i in self.needed)), self.needed
            late, good = _split(good, pc.less(good.column(width), int(before)))
            if late.num_rows:
                blob = _aside_blob(late.select(range(width + 1)), self.source)
                parcels.append(Parcel(0, TOO_LATE, part, BEGINNING, system, blob))
        rows = self._selected(_one_batch(good.select([*needed, width])), schema, before)
        if at_once is not None:
            rows, in_time = _split(rows, pc.less(rows.column(len(schema)), int(before)))
            parcels += [at_once(in_time)] if in_time.num_rows else []
        for port, key in self.ports:
            blobs = spread_rows(rows, schema, key, self.layouts)
            parcels += _addressed(blobs, Parcel(0, port, part, clock, system, b""), self.layouts)
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


@dataclass(frozen=True)
class TableReading:
    """The same for the changes of a table. Its rows are the schema's columns, TIME and SIGN, perhaps REASON and TEXT.

    A change without a time counts from the beginning, or from now on. Where the table has a primary key (`key`: its
    positions) and a port's key does not follow from it, every shard is told: the row that is replaced may be anywhere.
    """

    source: str
    schema: Schema
    ports: Ports
    layouts: Layouts
    key: tuple[int, ...] = ()

    def parcels(self, table: pa.Table, part: int, system: int) -> list[Parcel]:
        """The rows of one part for every port and group, or shard."""
        if not table.num_rows:
            return []
        width = len(self.schema)
        wrong = ((pc.is_null(table.column(width + 1)), "an _op that is neither + nor -"),)
        good, bad = _without_bad_rows(table, width, self.source, wrong)
        parcels = [Parcel(0, BAD, part, BEGINNING, system, blob) for blob in bad]
        rows = whole_table(good.select(range(width + 2)))
        for port, key in self.ports:
            if is_spread(key, self.key):
                blobs = spread_rows(rows, self.schema, key or (), self.layouts)
            else:
                blobs = dict.fromkeys(range(self.layouts.last.shards), pack(rows))
            parcels += _addressed(blobs, Parcel(0, port, part, BEGINNING, system, b""), self.layouts)
        return parcels


def is_spread(port_key: Placement, table_key: tuple[int, ...]) -> bool:
    """Whether the rows of a table that have the same primary key all go to the same group of a port."""
    if port_key is EVERYWHERE:
        return False
    return not table_key or all(columns_of(part) <= set(table_key) for part in port_key or ())


def whole_table(table: pa.Table) -> pa.RecordBatch:
    """A table's rows with their times and signs; those without a time are there from the beginning, or from now on."""
    place = table.num_columns - 2
    time = pc.fill_null(table.column(place), int(BEGINNING))
    return _one_batch(table.set_column(place, TIME, time))


def spread_rows(batch: pa.RecordBatch, schema: Schema, key: Placement, layouts: Layouts) -> dict[int, pa.Buffer]:
    """The rows of each group that has some; without a key one group of each shard gets an equal share."""
    if not batch.num_rows:
        return {}
    if key is EVERYWHERE:
        return dict.fromkeys(range(layouts.groups), pack(batch))
    count = layouts.groups if key else 1
    if key is None:
        count = layouts.last.shards
        cuts = np.linspace(0, batch.num_rows, count + 1).astype(np.int64)
    elif count > 1:
        pool = StringPool()
        read = frozenset().union(*map(columns_of, key))
        nothing = np.empty(0, dtype=np.int64)
        lanes = [to_lane(batch.column(i), f.type, pool) if i in read else nothing for i, f in enumerate(schema)]
        groups = Spread(key, schema, pool, count).groups(lanes, batch.num_rows)
        order, cuts = in_groups(groups, count)
        batch = batch.take(pa.array(order))
    if count == 1:
        return {0: pack(batch)}
    return {group: pack(batch.slice(a, b - a)) for group, (a, b) in enumerate(pairwise(cuts.tolist())) if a < b}


def _addressed(blobs: dict[int, pa.Buffer], like: Parcel, layouts: Layouts) -> list[Parcel]:
    """Parcels for the groups that have something, and for shards none of whose groups has."""
    shards = layouts.last.shards
    silent = set(range(shards)) - {group % shards for group in blobs}  # a shard's own number is one of its groups
    return [like._replace(group=group, blob=blobs.get(group, b"")) for group in sorted(blobs.keys() | silent)]


def _without_bad_rows(
    table: pa.Table, width: int, source: str, wrong: tuple[tuple[pa.ChunkedArray, str], ...]
) -> tuple[pa.Table, list[pa.Buffer]]:
    """The rows that are tuples, and the others as a blob; what the source says against a row goes first."""
    nothing = pa.chunked_array([pa.nulls(table.num_rows, pa.string())])
    reason = table.column(REASON) if REASON in table.column_names else nothing
    text = table.column(TEXT) if TEXT in table.column_names else nothing
    if reason.null_count == table.num_rows and not any(pc.any(mask).as_py() for mask, _ in wrong):
        return table, []
    for mask, why in wrong:
        reason = pc.coalesce(reason, pc.if_else(pc.fill_null(mask, False), why, pa.scalar(None, pa.string())))
    bad = pc.is_valid(reason)
    rows = table.select(range(width + 1)).append_column(TEXT, text).append_column(REASON, reason).filter(bad)
    return table.filter(pc.invert(bad)), [_aside_blob(rows, source)]


def _split(table: Rows, mask: pa.ChunkedArray | pa.Array) -> tuple[Rows, Rows]:
    """The rows for which the mask is true, and the others."""
    if not pc.any(mask).as_py():
        return table.slice(0, 0), table
    return table.filter(mask), table.filter(pc.invert(mask))


def _aside_blob(rows: pa.Table, source: str) -> pa.Buffer:
    """Rows that do not go into the query, as `Aside` takes them."""
    return pack(_one_batch(rows.append_column("_source", pa.array([source] * rows.num_rows))))


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
