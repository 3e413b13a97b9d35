"""The tasks that read a source: rows become parcels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from thalweg.core.errors import CheckpointError
from thalweg.core.time import BEGINNING, Instant
from thalweg.runtime.distributed.checkpoint.layouts import Layouts, shard_folder
from thalweg.runtime.distributed.checkpoint.store import read_manifest
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.ingest.stream_reader import Reading
from thalweg.runtime.distributed.ingest.table_reader import TableReading
from thalweg.runtime.spark.tasks.messages import to_rows
from thalweg.runtime.spark.tasks.process import settle
from thalweg.runtime.spark.tasks.stateless import AtOnce

BATCH_ID = "streaming.sql.batchId"

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def reading_task(reading: Reading | TableReading, checkpoint: str, at_once: AtOnce | None = None) -> Mapped:
    """The function for `mapInArrow` over a source's rows."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        there = list(batches)
        settle()
        if there:
            context = TaskContext.get()
            assert context is not None
            part, (batch, system) = context.partitionId(), batch_and_time(checkpoint)
            rows = pa.Table.from_batches(there)
            if isinstance(reading, TableReading):
                parcels = reading.parcels(rows, part, system)
            elif reading.minds_the_clock or at_once is not None:
                before = query_time(checkpoint, reading.layouts, batch - 1)
                answer = None if at_once is None else at_once.for_part(batch, part, system)
                parcels = reading.parcels(rows, part, system, before, answer)
            else:
                parcels = reading.parcels(rows, part, system)
            yield to_rows(parcels, BlobFiles(checkpoint), batch)

    return task


def batch_and_time(checkpoint: str) -> tuple[int, int]:
    """In which micro-batch this task is, and the system's time as of that."""
    context = TaskContext.get()
    assert context is not None
    batch = int(context.getLocalProperty(BATCH_ID) or 0)
    return batch, batch_time(checkpoint, batch)


def query_time(checkpoint: str | Path, layouts: Layouts, batch: int) -> Instant:
    """The query's clock after a batch: what is behind it comes too late for the next. All shards have the same."""
    if batch < 0:
        return BEGINNING
    any_shard = shard_folder(Path(checkpoint), 0, layouts.at(batch), 0)
    return int(read_manifest(any_shard / f"manifest-{batch}.json")["about"]["now"])


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
