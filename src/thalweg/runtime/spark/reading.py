"""The tasks that read a source: rows become parcels, one for every shard, so that each learns the source's clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from thalweg.algebra.expressions import columns_of
from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING
from thalweg.operators.base import Key
from thalweg.runtime.shards.codec import pack
from thalweg.runtime.shards.spread import Spread, by_shard
from thalweg.runtime.shards.worker import BAD, COMMAND, Parcel
from thalweg.runtime.spark.parcels import to_rows

BATCH_ID = "streaming.sql.batchId"

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

# Columns that a source's DataFrame gets beside its own.
TIME, REASON, SIGN = "_time", "_reason", "_sign"


@dataclass(frozen=True)
class Reading:
    """What a task needs to know to read one source. Its rows are the columns that are read, TIME and perhaps REASON.

    The time that the system had when the batch began comes from Spark's log of offsets: a batch that is run again must
    see the same.
    """

    source: str
    schema: Schema  # of the columns that are read
    ports: tuple[tuple[int, Key | None], ...]  # keys are over these columns
    shards: int
    ahead: int | None  # how far a row's time may be ahead of the system's clock, in microseconds
    checkpoint: str

    def task(self) -> Mapped:
        """The function for `mapInArrow`."""
        return lambda batches: iter([to_rows(self._parcels(list(batches)))])

    def _parcels(self, batches: list[pa.RecordBatch]) -> list[Parcel]:
        table = pa.Table.from_batches(batches).combine_chunks() if batches else None
        if table is None or not table.num_rows:
            return []
        part, system = part_and_time(self.checkpoint)
        place = table.schema.get_field_index(TIME)
        table = table.set_column(place, TIME, table.column(place).cast(pa.int64()))
        good, parcels = self._without_bad_rows(table, part, system)
        time = good.column(TIME)
        clock = pc.max(time).as_py() if len(time) else BEGINNING
        for port, key in self.ports:
            blobs = self._spread(good, key)
            parcels += [Parcel(shard, port, part, clock, system, blob) for shard, blob in enumerate(blobs)]
        return parcels

    def _without_bad_rows(self, table: pa.Table, part: int, system: int) -> tuple[pa.Table, list[Parcel]]:
        """The rows that are tuples; the others go to shard 0 with the reason."""
        time = table.column(TIME)
        told = table.column(REASON) if REASON in table.column_names else pa.nulls(len(time), pa.string())
        latest = pc.max(time).as_py()
        future = self.ahead is not None and latest is not None and latest > system + self.ahead
        if told.null_count == len(time) and not time.null_count and not future:
            return table, []
        reason = pc.if_else(pc.and_(pc.is_null(time), pc.is_null(told)), "no timestamp", told)
        if self.ahead is not None:
            ahead = pc.fill_null(pc.greater(time, system + self.ahead), False)
            reason = pc.if_else(ahead, "ahead of the system's clock by more than is allowed", reason)
        bad = pc.is_valid(reason)
        rows = table.filter(bad).select([*self.schema.names, TIME])
        rows = rows.append_column("_reason", pc.filter(reason, bad))
        rows = rows.append_column("_source", pa.array([self.source] * rows.num_rows))
        blob = pack(rows.combine_chunks().to_batches()[0])
        return table.filter(pc.invert(bad)), [Parcel(0, BAD, part, BEGINNING, system, blob)]

    def _spread(self, table: pa.Table, key: Key | None) -> list[bytes]:
        """The rows for each shard."""
        if not table.num_rows:
            return [b""] * self.shards
        batch = table.select([*self.schema.names, TIME]).combine_chunks().to_batches()[0]
        return spread_rows(batch, self.schema, key, self.shards)


def part_and_time(checkpoint: str) -> tuple[int, int]:
    """Which partition of the source this task reads, and the system's time in microseconds as of the micro-batch."""
    context = TaskContext.get()
    assert context is not None
    batch = int(context.getLocalProperty(BATCH_ID) or 0)
    return context.partitionId(), batch_time(checkpoint, batch)


def batch_time(checkpoint: str, batch: int) -> int:
    """When Spark planned a batch, in microseconds: the second line of its entry in the log of offsets."""
    path = Path(checkpoint) / "spark" / "offsets" / str(batch)
    try:
        return int(json.loads(path.read_text().splitlines()[1])["batchTimestampMs"]) * 1000
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise CheckpointError(
            f"{path} does not say when batch {batch} was planned: {error}",
            hint="the checkpoint's folder must be the one that Spark writes to, and be reachable by all workers",
        ) from error


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
    """The same for the changes of a table. Its rows are the schema's columns, TIME and SIGN."""

    schema: Schema
    ports: tuple[tuple[int, Key | None], ...]
    shards: int
    checkpoint: str

    def task(self) -> Mapped:
        """The function for `mapInArrow`."""
        return lambda batches: iter([to_rows(self._parcels(list(batches)))])

    def _parcels(self, batches: list[pa.RecordBatch]) -> list[Parcel]:
        table = pa.Table.from_batches(batches).combine_chunks() if batches else None
        if table is None or not table.num_rows:
            return []
        part, system = part_and_time(self.checkpoint)
        rows = whole_table(table)
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


def commands(shards: int, checkpoint: str) -> Mapped:
    """The function for `mapInArrow` over a control stream of clocks: every shard gets every command."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        clocks = [clock for batch in batches for clock in batch.column(0).to_pylist()]
        part, system = part_and_time(checkpoint) if clocks else (0, 0)
        yield to_rows([Parcel(shard, COMMAND, part, clock, system, b"") for clock in clocks for shard in range(shards)])

    return task
