"""The tasks that read a source: rows become parcels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from thalweg.core.errors import CheckpointError
from thalweg.core.time import BEGINNING, Instant
from thalweg.runtime.shards.blobs import BlobFiles
from thalweg.runtime.shards.layouts import Layouts, shard_folder
from thalweg.runtime.shards.reading import TIME, Reading, TableReading
from thalweg.runtime.shards.store import read_manifest
from thalweg.runtime.spark.parcels import to_rows
from thalweg.runtime.spark.processes import settle

BATCH_ID = "streaming.sql.batchId"

Mapped = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
Loading = Callable[[Iterable[pa.RecordBatch]], pa.Table]


def reading_task(reading: Reading | TableReading, checkpoint: str) -> Mapped:
    """The function for `mapInArrow` over a source's rows."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        there = list(batches)
        settle()
        if there:
            part, batch, system = _part_and_time(checkpoint)
            rows = pa.Table.from_batches(there)
            if isinstance(reading, Reading) and reading.minds_the_clock:
                parcels = reading.parcels(rows, part, system, query_time(checkpoint, reading.layouts, batch - 1))
            else:
                parcels = reading.parcels(rows, part, system)
            yield to_rows(parcels, BlobFiles(checkpoint), batch)

    return task


def loading_task(reading: Reading, load: Loading, whole: tuple[Reading, Loading] | None, checkpoint: str) -> Mapped:
    """The same over what the rows are to be loaded from. If some are late, all are loaded again as `whole` says."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        there = list(batches)
        settle()
        if there:
            part, batch, system = _part_and_time(checkpoint)
            chosen, rows = reading, load(there)
            before = query_time(checkpoint, reading.layouts, batch - 1)
            if whole is not None and pc.any(pc.less(rows.column(TIME).cast(pa.int64()), before)).as_py():
                chosen, rows = whole[0], whole[1](there)
            yield to_rows(chosen.parcels(rows, part, system, before), BlobFiles(checkpoint), batch)

    return task


def _part_and_time(checkpoint: str) -> tuple[int, int, int]:
    """Which partition of the source this task reads, in which micro-batch, and the system's time as of that."""
    context = TaskContext.get()
    assert context is not None
    batch = int(context.getLocalProperty(BATCH_ID) or 0)
    return context.partitionId(), batch, batch_time(checkpoint, batch)


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
