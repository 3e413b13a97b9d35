"""The tasks that read a source: rows, or the rows that descriptions stand for, become messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.time import Instant
from thalweg.runtime.distributed.checkpoint.layouts import Layouts, shard_folder
from thalweg.runtime.distributed.checkpoint.manifest import clock_after
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.ingest.routing import TIME
from thalweg.runtime.distributed.ingest.stream_reader import AnswerRows, StreamReader
from thalweg.runtime.distributed.ingest.table_reader import TableReader
from thalweg.runtime.spark.tasks.messages import to_rows
from thalweg.runtime.spark.tasks.running_task import batch_time, running_task, tune_process
from thalweg.runtime.spark.tasks.stateless import StatelessQuery

ArrowTask = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]  # a function for `mapInArrow`

# Columns of descriptions: the stream that a description belongs to, and the partition of the stream that it came from.
# They do not depend on the task that reads it, so the order of arrival does not either.
STREAM, PART = "_stream", "_part"

Loading = Callable[[Iterable[pa.RecordBatch]], pa.Table]


@dataclass(frozen=True)
class Recipe:
    """How to make messages of a stream's descriptions. If a row is late, all rows are loaded again with all columns."""

    reader: StreamReader
    load: Loading
    wide: tuple[StreamReader, Loading] | None = None  # for all columns, if late rows are kept whole

    def messages(
        self,
        described: Sequence[pa.RecordBatch],
        part: int,
        system: int,
        before: Instant,
        answer: AnswerRows | None = None,
    ) -> list[Message]:
        """See `StreamReader.messages`."""
        reader, rows = self.reader, self.load(described)
        if self.wide is not None and pc.any(pc.less(rows.column(TIME).cast(pa.int64()), before)).as_py():
            reader, load = self.wide
            rows = load(described)
        return reader.messages(rows, part, system, before, answer)


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
    """The query's clock at the start of a batch: rows with an earlier time are late."""
    any_shard = shard_folder(Path(checkpoint), 0, layouts.at(max(0, batch - 1)), 0)
    return clock_after(any_shard, batch - 1)


def loading_task(streams: Sequence[Recipe], checkpoint: str, stateless: StatelessQuery | None = None) -> ArrowTask:
    """The function for `mapInArrow` over descriptions of several streams."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        described = _by_part(batches)
        tune_process()
        if not described:
            return
        _, batch = running_task()
        system, before = batch_time(checkpoint, batch), clock_before(checkpoint, streams[0].reader.layouts, batch)
        for (number, part), there in sorted(described.items()):
            answer = None if stateless is None else stateless.for_part(batch, part, system)
            messages = streams[number].messages(there, part, system, before, answer)
            yield to_rows(messages, BlobFiles(checkpoint), batch)

    return task


def _by_part(batches: Iterable[pa.RecordBatch]) -> dict[tuple[int, int], list[pa.RecordBatch]]:
    found: dict[tuple[int, int], list[pa.RecordBatch]] = {}
    for batch in batches:
        numbers, parts = batch.column(STREAM), batch.column(PART)
        for number, part in sorted({*zip(numbers.to_pylist(), parts.to_pylist(), strict=True)}):
            mine = batch.filter(pc.and_(pc.equal(numbers, number), pc.equal(parts, part)))
            found.setdefault((number, part), []).append(mine.drop_columns([STREAM, PART]))
    return found
