"""The tasks that read a source: rows become parcels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark import TaskContext

from thalweg.runtime.shards.parcel import COMMAND, Parcel
from thalweg.runtime.shards.reading import Reading, TableReading
from thalweg.runtime.spark.parcels import to_rows

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def reading_task(reading: Reading | TableReading) -> Mapped:
    """The function for `mapInArrow` over a source's rows."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        there = list(batches)
        if there:
            yield to_rows(reading.parcels(pa.Table.from_batches(there), _part()))

    return task


def commands(shards: int) -> Mapped:
    """The function for `mapInArrow` over a control stream of (clock, _system): every shard gets every command."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = _part()
        parcels = [
            Parcel(shard, COMMAND, part, clock, system, b"")
            for batch in batches
            for clock, system in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
            for shard in range(shards)
        ]
        yield to_rows(parcels)

    return task


def _part() -> int:
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
