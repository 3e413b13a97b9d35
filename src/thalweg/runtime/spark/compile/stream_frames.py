"""Streams as messages: each by tasks of its own, or, where a DataFrame only describes rows, several together.

A Python task of Spark's takes tens of milliseconds before and after its work, more than it takes to load some thousand
rows, and Spark gives every stream as many tasks as there are cores. So where there are more streams than cores, they
share tasks; with fewer, a large one would lose its share of the cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from thalweg.core.time import Instant
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.ingest.routing import TIME
from thalweg.runtime.distributed.ingest.stream_reader import AnswerRows, StreamReader
from thalweg.runtime.spark.api.inputs import StreamInput
from thalweg.runtime.spark.tasks.messages import MESSAGES, to_rows
from thalweg.runtime.spark.tasks.read import ArrowTask, clock_before, stream_task
from thalweg.runtime.spark.tasks.running_task import batch_time, running_task, tune_process
from thalweg.runtime.spark.tasks.stateless import StatelessQuery

# The stream of a description, and the stream's own partition that has it: both stay the same whatever task reads it,
# and so does the order in which rows arrive.
_STREAM, _PART = "_stream", "_part"

Loading = Callable[[Iterable[pa.RecordBatch]], pa.Table]


@dataclass(frozen=True)
class Recipe:
    """How messages are made of a stream's descriptions. If some rows are late, all are loaded again as `whole` says."""

    reader: StreamReader
    load: Loading
    whole: tuple[StreamReader, Loading] | None = None

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
        if self.whole is not None and pc.any(pc.less(rows.column(TIME).cast(pa.int64()), before)).as_py():
            reader, load = self.whole
            rows = load(described)
        return reader.messages(rows, part, system, before, answer)


class StreamPlan(NamedTuple):
    """A stream, the columns that are needed and how they are read; and all columns, if late rows are wanted whole."""

    stream: StreamInput
    needed: tuple[int, ...]
    few: StreamReader
    whole: StreamReader | None = None

    @property
    def kind(self) -> str | None:
        """Streams that are described alike have the same; None: the DataFrame has the rows themselves."""
        return None if self.stream.load is None else self.stream.frame.schema.json()

    def rows(self, checkpoint: str, stateless: StatelessQuery | None) -> DataFrame:
        """The messages of a stream whose DataFrame has its rows."""
        rows = self.stream.rows(self.stream.brought(self.needed))
        return rows.mapInArrow(stream_task(self.whole or self.few, checkpoint, stateless), MESSAGES)

    def recipe(self) -> Recipe:
        """For a stream whose DataFrame only describes rows."""
        every = tuple(range(len(self.stream.stream.schema)))
        again = None if self.whole is None else (self.whole, self.stream.loading(every))
        return Recipe(self.few, self.stream.loading(self.needed), again)


def stream_frames(
    streams: Sequence[StreamPlan], checkpoint: str, stateless: StatelessQuery | None = None
) -> list[DataFrame]:
    """The messages of all streams, in their order, by which Spark's log of offsets knows them."""
    sent: list[DataFrame] = []
    for kind, group in groupby(streams, lambda read: read.kind):
        alike = list(group)
        if kind is None:
            sent += [read.rows(checkpoint, stateless) for read in alike]
        else:
            sent.append(_together(alike, checkpoint, stateless))
    return sent


def _together(streams: Sequence[StreamPlan], checkpoint: str, stateless: StatelessQuery | None) -> DataFrame:
    """Streams that are described alike."""
    frames = [
        read.stream.frame.select(sf.lit(number).alias(_STREAM), sf.spark_partition_id().alias(_PART), "*")
        for number, read in enumerate(streams)
    ]
    described = reduce(DataFrame.union, frames)
    cores = max(described.sparkSession.sparkContext.defaultParallelism, streams[0].few.layouts.last.shards)
    if len(frames) > cores:
        described = described.coalesce(cores)
    return described.mapInArrow(loading_task([read.recipe() for read in streams], checkpoint, stateless), MESSAGES)


def loading_task(streams: Sequence[Recipe], checkpoint: str, stateless: StatelessQuery | None = None) -> ArrowTask:
    """The function for `mapInArrow` over descriptions: one stream's part after the other."""

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
        numbers, parts = batch.column(_STREAM), batch.column(_PART)
        for number, part in sorted({*zip(numbers.to_pylist(), parts.to_pylist(), strict=True)}):
            mine = batch.filter(pc.and_(pc.equal(numbers, number), pc.equal(parts, part)))
            found.setdefault((number, part), []).append(mine.drop_columns([_STREAM, _PART]))
    return found
