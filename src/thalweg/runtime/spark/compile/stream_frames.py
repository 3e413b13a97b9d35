"""Streams as DataFrames of messages: each in tasks of its own, or, if DataFrames only describe rows, several together.

A Python task costs tens of milliseconds besides its work, more than it takes to load some thousand rows, and Spark
gives every stream as many tasks as there are cores. So if there are more streams than cores, they share tasks. If there
are fewer, they do not: one large stream needs all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.spark.inputs import StreamInput
from thalweg.runtime.spark.tasks.messages import MESSAGES
from thalweg.runtime.spark.tasks.read import PART, STREAM, Recipe, loading_task, stream_task
from thalweg.runtime.spark.tasks.stateless import StatelessQuery


class StreamPlan(NamedTuple):
    """How a stream is read: the columns that the query needs, and, if late rows are kept whole, all columns."""

    stream: StreamInput
    needed: tuple[int, ...]
    narrow: StreamReader
    wide: StreamReader | None = None

    @property
    def kind(self) -> str | None:
        """A key that is equal for streams with the same description schema; None if the DataFrame has the rows."""
        return None if self.stream.load is None else self.stream.frame.schema.json()

    def rows(self, checkpoint: str, stateless: StatelessQuery | None) -> DataFrame:
        """The messages of a stream whose DataFrame has its rows."""
        rows = self.stream.rows(self.stream.brought(self.needed))
        return rows.mapInArrow(stream_task(self.wide or self.narrow, checkpoint, stateless), MESSAGES)

    def recipe(self) -> Recipe:
        """How to load a stream whose DataFrame only describes rows."""
        all_columns = tuple(range(len(self.stream.stream.schema)))
        wide = None if self.wide is None else (self.wide, self.stream.loading(all_columns))
        return Recipe(self.narrow, self.stream.loading(self.needed), wide)


def stream_frames(
    streams: Sequence[StreamPlan], checkpoint: str, stateless: StatelessQuery | None = None
) -> list[DataFrame]:
    """The messages of all streams. Their order must not change: Spark's offsets are by the position of a source."""
    sent: list[DataFrame] = []
    for kind, group in groupby(streams, lambda read: read.kind):
        alike = list(group)
        if kind is None:
            sent += [read.rows(checkpoint, stateless) for read in alike]
        else:
            sent.append(_together(alike, checkpoint, stateless))
    return sent


def _together(streams: Sequence[StreamPlan], checkpoint: str, stateless: StatelessQuery | None) -> DataFrame:
    """The messages of streams with the same description schema."""
    frames = [
        read.stream.frame.select(sf.lit(number).alias(STREAM), sf.spark_partition_id().alias(PART), "*")
        for number, read in enumerate(streams)
    ]
    described = reduce(DataFrame.union, frames)
    cores = max(described.sparkSession.sparkContext.defaultParallelism, streams[0].narrow.layouts.last.shards)
    if len(frames) > cores:
        described = described.coalesce(cores)
    return described.mapInArrow(loading_task([read.recipe() for read in streams], checkpoint, stateless), MESSAGES)
