"""The tasks that read a source: rows become parcels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from thalweg.core.errors import CheckpointError
from thalweg.runtime.shards.blobs import BlobFiles
from thalweg.runtime.shards.parcel import COMMAND, Parcel
from thalweg.runtime.shards.reading import Reading, TableReading
from thalweg.runtime.spark.parcels import to_rows

BATCH_ID = "streaming.sql.batchId"

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Loading = Callable[[Iterable[pa.RecordBatch]], pa.Table]


def reading_task(reading: Reading | TableReading, checkpoint: str, load: Loading | None = None) -> Mapped:
    """The function for `mapInArrow` over a source's rows, or over what they are to be loaded from."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        there = list(batches)
        if there:
            rows = pa.Table.from_batches(there) if load is None else load(there)
            part, batch, system = _part_and_time(checkpoint)
            yield to_rows(reading.parcels(rows, part, system), BlobFiles(checkpoint), batch)

    return task


def commands(shards: int, checkpoint: str) -> Mapped:
    """The function for `mapInArrow` over a control stream of clocks: every shard gets every command."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        clocks = [clock for batch in batches for clock in batch.column(0).to_pylist()]
        part, batch_id, system = _part_and_time(checkpoint) if clocks else (0, 0, 0)
        told = [Parcel(shard, COMMAND, part, clock, system, b"") for clock in clocks for shard in range(shards)]
        yield to_rows(told, BlobFiles(checkpoint), batch_id)

    return task


def _part_and_time(checkpoint: str) -> tuple[int, int, int]:
    """Which partition of the source this task reads, in which micro-batch, and the system's time as of that."""
    context = TaskContext.get()
    assert context is not None
    batch = int(context.getLocalProperty(BATCH_ID) or 0)
    return context.partitionId(), batch, batch_time(checkpoint, batch)


def batch_time(checkpoint: str, batch: int) -> int:
    """When Spark planned a batch, in microseconds, by its log of offsets: a batch that is run again sees the same."""
    path = Path(checkpoint) / "spark" / "offsets" / str(batch)
    try:
        return int(json.loads(path.read_text().splitlines()[1])["batchTimestampMs"]) * 1000
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise CheckpointError(
            f"{path} does not say when batch {batch} was planned: {error}",
            hint="the checkpoint's folder must be the one that Spark writes to, and be reachable by all workers",
        ) from error
