"""The interface of sinks, and the context that a sink receives from its query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, runtime_checkable

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from thalweg.algebra.plan import Plan
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.time import Clock, Instant
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.sinks.retry import Retries
from thalweg.runtime.spark.tasks.answer_rows import uniquely_named
from thalweg.runtime.spark.tasks.deliver import Take, notes_of


@runtime_checkable
class Sink(Protocol):
    """Takes the changes of a micro-batch: the answer's columns, `_ts`, `_exp` and `_sign`.

    If it fails, it is tried again (`Retry`): a sink may have a policy `retry`, a `name` for metrics and errors, and a
    method `is_transient(error)` that says which errors are worth another attempt.

    A row counts `_sign` times from `_ts` (NULL: from the start) until `_exp` (NULL: not known). After a crash Spark
    sends the last batch again, with the same number: a sink must then replace what it wrote for that batch.
    """

    def write(self, changes: DataFrame, batch: int) -> None:
        """Write one micro-batch. The sink must evaluate `changes` even if it discards them: that runs the batch."""


@runtime_checkable
class TaskSink(Sink, Protocol):
    """A sink that takes rows inside the tasks that compute them, so that rows never pass through the JVM."""

    def take(self, schema: StructType) -> Take:
        """The function that tasks call with their rows. Its output must stay invisible until `commit`."""

    def commit(self, notes: Sequence[str], batch: int) -> None:
        """Make a batch visible: the output that these notes of tasks name, and nothing else."""


@runtime_checkable
class KeepingSink(TaskSink, Protocol):
    """A task sink that can give the rows of a batch to other sinks."""

    def rows(self, spark: SparkSession, schema: StructType, batch: int) -> DataFrame:
        """The rows of a batch."""


@dataclass(frozen=True)
class SinkContext:
    """The query or flow that a sink belongs to; a sink with a method `open` receives it before the first batch."""

    query: Plan | None  # None for a flow
    stamped: bool  # whether `_ts` and `_exp` are timestamps, not ticks
    checkpoint: Checkpoint

    @property
    def plan(self) -> Plan:
        """The query's plan; an error for a flow."""
        if self.query is None:
            raise DataError(
                "this sink needs the columns of one query, but a flow gives it the packed changes of many",
                hint="give the flow a ParquetSink, or no sink, and read answer(query) and changes(query)",
            )
        return self.query

    @property
    def schema(self) -> Schema:
        """The answer's columns, with unique names; an error for a flow."""
        return uniquely_named(self.plan.schema)

    @property
    def clock(self) -> Clock:
        """What a tick means."""
        return Clock.TIMESTAMPS if self.stamped else Clock.TICKS

    def now(self, batch: int) -> Instant:
        """The query's clock after a batch that has run: the answer is exact up to it."""
        return self.checkpoint.clock_after(batch)

    def owner(self) -> str:
        """The id of the streaming query that batch numbers belong to; it stays the same for a checkpoint."""
        return str(json.loads((self.checkpoint.spark / "metadata").read_bytes())["id"])


@runtime_checkable
class Opening(Protocol):
    """A sink that needs the context of its query."""

    def open(self, context: SinkContext) -> None:
        """Called before the first batch of a run."""


@dataclass(frozen=True)
class Sinks:
    """Several sinks for the same changes, written one after the other; each writes a batch once."""

    sinks: Sequence[Sink]
    schema: StructType  # of the changes
    retries: Retries = field(default_factory=Retries)

    @property
    def in_tasks(self) -> TaskSink | None:
        """The sink that takes rows inside the tasks; other sinks get their rows from it."""
        kind = TaskSink if len(self.sinks) == 1 else KeepingSink
        return next((sink for sink in self.sinks if isinstance(sink, kind)), None)

    def take(self) -> Take | None:
        """The function that tasks call with their rows; None if rows go through Spark."""
        first = self.in_tasks
        return None if first is None else first.take(self.schema)

    def open(self, context: SinkContext) -> None:
        """Open the sinks that need a context."""
        for sink in self.sinks:
            if isinstance(sink, Opening):
                sink.open(context)

    def write(self, handed: DataFrame, batch: int) -> None:
        """Write what the tasks returned, rows or notes. The stages run once for any number of sinks."""
        first = self.in_tasks
        if first is not None:
            notes = notes_of(handed)
            self.retries.run(first, batch, lambda: first.commit(notes, batch))
            if isinstance(first, KeepingSink) and len(self.sinks) > 1:
                rows = first.rows(handed.sparkSession, self.schema, batch)
                self._write([sink for sink in self.sinks if sink is not first], rows, batch)
        elif len(self.sinks) == 1:
            self._write(self.sinks, handed, batch)
        else:
            handed.persist(StorageLevel.MEMORY_AND_DISK)
            try:
                self._write(self.sinks, handed, batch)
            finally:
                handed.unpersist()

    def _write(self, sinks: Sequence[Sink], rows: DataFrame, batch: int) -> None:
        for sink in sinks:
            self.retries.run(sink, batch, partial(sink.write, rows, batch))
