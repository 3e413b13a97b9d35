"""The tasks that read a source: rows become messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from thalweg.core.time import Instant
from thalweg.runtime.distributed.checkpoint.layouts import Layouts, shard_folder
from thalweg.runtime.distributed.checkpoint.manifest import clock_after
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.ingest.table_reader import TableReader
from thalweg.runtime.spark.tasks.messages import to_rows
from thalweg.runtime.spark.tasks.running_task import batch_time, running_task, tune_process
from thalweg.runtime.spark.tasks.stateless import StatelessQuery

ArrowTask = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]  # a function for `mapInArrow`


def table_task(reader: TableReader, checkpoint: str) -> ArrowTask:
    """The function for `mapInArrow` over a table's changes."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = list(batches)
        tune_process()
        if rows:
            part, batch = running_task()
            messages = reader.messages(pa.Table.from_batches(rows), part, batch_time(checkpoint, batch))
            yield to_rows(messages, BlobFiles(checkpoint), batch)

    return task


def stream_task(reader: StreamReader, checkpoint: str, stateless: StatelessQuery | None = None) -> ArrowTask:
    """The function for `mapInArrow` over a stream's rows."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = list(batches)
        tune_process()
        if rows:
            part, batch = running_task()
            table, system = pa.Table.from_batches(rows), batch_time(checkpoint, batch)
            if reader.needs_clock or stateless is not None:
                before = clock_before(checkpoint, reader.layouts, batch)
                answer = None if stateless is None else stateless.for_part(batch, part, system)
                messages = reader.messages(table, part, system, before, answer)
            else:
                messages = reader.messages(table, part, system)
            yield to_rows(messages, BlobFiles(checkpoint), batch)

    return task


def clock_before(checkpoint: str, layouts: Layouts, batch: int) -> Instant:
    """The query's clock when a batch begins: rows with an earlier time are late."""
    any_shard = shard_folder(Path(checkpoint), 0, layouts.at(max(0, batch - 1)), 0)
    return clock_after(any_shard, batch - 1)
