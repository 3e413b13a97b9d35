"""The tasks that read a source: rows become parcels, one for every shard, so that each learns the source's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from thalweg.algebra.expressions import columns_of
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING
from thalweg.operators.base import Key
from thalweg.runtime.shards.codec import pack
from thalweg.runtime.shards.spread import Spread, by_shard
from thalweg.runtime.shards.worker import BAD, COMMAND, Parcel
from thalweg.runtime.spark.parcels import to_rows

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

# Columns that a source's DataFrame gets beside its own.
TIME, SYSTEM, REASON, SIGN = "_time", "_system", "_reason", "_sign"


@dataclass(frozen=True)
class Reading:
    """What a task needs to know to read one source. Its rows are the schema's columns, TIME, SYSTEM and REASON."""

    source: str
    schema: Schema
    ports: tuple[tuple[int, Key | None], ...]
    shards: int
    ahead: int | None  # how far a row's time may be ahead of the system's clock, in microseconds

    def task(self) -> Mapped:
        """The function for `mapInArrow`."""
        return lambda batches: iter([to_rows(self._parcels(list(batches)))])

    def _parcels(self, batches: list[pa.RecordBatch]) -> list[Parcel]:
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        table = pa.Table.from_batches(batches) if batches else None
        if table is None or not table.num_rows:
            return []
        table = table.combine_chunks()
        system = table.column(SYSTEM)[0].as_py()
        good, parcels = self._without_bad_rows(table, part, system)
        time = good.column(TIME)
        clock = pc.max(time).as_py() if len(time) else BEGINNING
        for port, key in self.ports:
            blobs = self._spread(good, key)
            parcels += [Parcel(shard, port, part, clock, system, blob) for shard, blob in enumerate(blobs)]
        return parcels

    def _without_bad_rows(self, table: pa.Table, part: int, system: int) -> tuple[pa.Table, list[Parcel]]:
        """The rows that are tuples; the others go to shard 0 with the reason."""
        reason = table.column(REASON)
        reason = pc.if_else(pc.and_(pc.is_null(table.column(TIME)), pc.is_null(reason)), "no timestamp", reason)
        if self.ahead is not None:
            future = pc.fill_null(pc.greater(table.column(TIME), system + self.ahead), False)
            reason = pc.if_else(future, "ahead of the system's clock by more than is allowed", reason)
        bad = pc.is_valid(reason)
        if not pc.any(bad).as_py():
            return table, []
        rows = table.filter(bad).drop_columns([SYSTEM, REASON])
        count = rows.num_rows
        rows = rows.append_column("_reason", pc.filter(reason, bad))
        rows = rows.append_column("_source", pa.array([self.source] * count))
        blob = pack(rows.combine_chunks().to_batches()[0])
        return table.filter(pc.invert(bad)), [Parcel(0, BAD, part, BEGINNING, system, blob)]

    def _spread(self, table: pa.Table, key: Key | None) -> list[bytes]:
        """The rows for each shard; without a key, rows go round."""
        if not table.num_rows:
            return [b""] * self.shards
        batch = table.drop_columns([SYSTEM, REASON]).combine_chunks().to_batches()[0]
        return spread_rows(batch, self.schema, key, self.shards)


def spread_rows(batch: pa.RecordBatch, schema: Schema, key: Key | None, count: int) -> list[bytes]:
    """The rows for each shard; without a key each gets an equal share."""
    if count == 1:
        return [pack(batch)]
    if key is None:
        cuts = np.linspace(0, batch.num_rows, count + 1).astype(np.int64)
        parts = [batch.slice(a, b - a) for a, b in pairwise(cuts.tolist())]
        return [pack(part) if part.num_rows else b"" for part in parts]
    pool = StringPool()
    read = frozenset().union(*map(columns_of, key))
    nothing = np.empty(0, dtype=np.int64)
    lanes = [to_lane(batch.column(i), f.type, pool) if i in read else nothing for i, f in enumerate(schema)]
    shards = Spread(key, schema, pool, count).shards(lanes, batch.num_rows)
    everything = np.arange(batch.num_rows)
    rows = [everything[some] for some in by_shard(shards, count)]
    return [pack(batch.take(pa.array(some))) if len(some) else b"" for some in rows]


@dataclass(frozen=True)
class TableReading:
    """The same for the changes of a table. Its rows are the schema's columns, TIME, SIGN and SYSTEM."""

    schema: Schema
    ports: tuple[tuple[int, Key | None], ...]
    shards: int

    def task(self) -> Mapped:
        """The function for `mapInArrow`."""
        return lambda batches: iter([to_rows(self._parcels(list(batches)))])

    def _parcels(self, batches: list[pa.RecordBatch]) -> list[Parcel]:
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        table = pa.Table.from_batches(batches).combine_chunks() if batches else None
        if table is None or not table.num_rows:
            return []
        system = table.column(SYSTEM)[0].as_py()
        rows = whole_table(table.drop_columns([SYSTEM]))
        return [
            Parcel(shard, port, part, BEGINNING, system, blob)
            for port, key in self.ports
            for shard, blob in enumerate(spread_rows(rows, self.schema, key or (), self.shards))
        ]


def whole_table(table: pa.Table) -> pa.RecordBatch:
    """A table's rows with their times; those without one are there from the beginning, or from now on."""
    place = table.schema.get_field_index(TIME)
    time = pc.fill_null(table.column(place), int(BEGINNING))
    return table.set_column(place, TIME, time).combine_chunks().to_batches()[0]


def commands(shards: int) -> Mapped:
    """The function for `mapInArrow` over a control stream of (clock, _system): every shard gets every command."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        parcels = [
            Parcel(shard, COMMAND, part, clock, system, b"")
            for batch in batches
            for clock, system in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
            for shard in range(shards)
        ]
        yield to_rows(parcels)

    return task
