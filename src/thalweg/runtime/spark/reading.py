"""The tasks that read a source: rows become parcels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from thalweg.core.errors import CheckpointError
from thalweg.core.time import BEGINNING, Instant
from thalweg.runtime.shards.parcel import COMMAND, HEARTBEAT, Parcel
from thalweg.runtime.shards.reading import Reading, TableReading
from thalweg.runtime.shards.store import read_manifest, shard_folder
from thalweg.runtime.spark.parcels import to_rows

BATCH_ID = "streaming.sql.batchId"

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def reading_task(reading: Reading | TableReading, checkpoint: str) -> Mapped:
    """The function for `mapInArrow` over a source's rows."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        there = list(batches)
        if there:
            whole, (part, system) = pa.Table.from_batches(there), _part_and_time(checkpoint)
            if isinstance(reading, Reading) and reading.minds_the_clock:
                parcels = reading.parcels(whole, part, system, query_time(checkpoint, _batch() - 1))
            else:
                parcels = reading.parcels(whole, part, system)
            yield to_rows(parcels)

    return task


def commands(shards: int, checkpoint: str) -> Mapped:
    """The function for `mapInArrow` over a control stream of clocks: every shard gets every command."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        clocks = [clock for batch in batches for clock in batch.column(0).to_pylist()]
        part, system = _part_and_time(checkpoint) if clocks else (0, 0)
        yield to_rows([Parcel(shard, COMMAND, part, clock, system, b"") for clock in clocks for shard in range(shards)])

    return task


def beats(shards: int, checkpoint: str) -> Mapped:
    """The function for `mapInArrow` over a heartbeat: every shard learns what time it is."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if sum(batch.num_rows for batch in batches):  # to the end: a worker that leaves some is not used again
            part, system = _part_and_time(checkpoint)
            yield to_rows([Parcel(shard, HEARTBEAT, part, BEGINNING, system, b"") for shard in range(shards)])

    return task


def _part_and_time(checkpoint: str) -> tuple[int, int]:
    """Which partition of the source this task reads, and the system's time as of the micro-batch."""
    context = TaskContext.get()
    assert context is not None
    return context.partitionId(), batch_time(checkpoint, _batch())


def _batch() -> int:
    """The micro-batch at work."""
    context = TaskContext.get()
    assert context is not None
    return int(context.getLocalProperty(BATCH_ID) or 0)


def query_time(checkpoint: str | Path, batch: int) -> Instant:
    """The query's clock after a batch: what is behind it comes too late for the next. All shards have the same."""
    if batch < 0:
        return BEGINNING
    return int(read_manifest(shard_folder(checkpoint, 0, 0) / f"manifest-{batch}.json")["about"]["now"])


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
