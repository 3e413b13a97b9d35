"""What a sink is, and what it may be told about the query whose changes it takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.core.time import Clock, Instant
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.store import read_manifest
from thalweg.runtime.spark.tasks.deliver import Take, notes_of


@runtime_checkable
class Sink(Protocol):
    """Takes the changes of a micro-batch: the answer's columns, `_ts`, `_exp` and `_sign`.

    A row counts `_sign` times from `_ts` (NULL: ever since) until `_exp` (NULL: not known). After a crash Spark gives
    the last batch again, with the same number: a sink must then put it where it was, not beside it.
    """

    def write(self, changes: DataFrame, batch: int) -> None:
        """One micro-batch. The changes must be asked for, even if they are then left out: that is what runs it."""


@runtime_checkable
class TaskSink(Sink, Protocol):
    """A sink that takes rows from the tasks that make them, so that they never pass through the JVM."""

    def take(self, schema: StructType) -> Take:
        """What the tasks do with their rows. Nobody may see anything of it yet."""

    def commit(self, notes: Sequence[str], batch: int) -> None:
        """All tasks are done, and these notes count: the batch is what they tell of, and nothing else."""


@runtime_checkable
class KeepingSink(TaskSink, Protocol):
    """One that has the rows of a batch for others too."""

    def rows(self, spark: SparkSession, schema: StructType, batch: int) -> DataFrame:
        """What it has taken."""


@dataclass(frozen=True)
class Told:
    """What a sink with a method `open` hears before the first batch."""

    plan: Plan
    schema: Schema  # the answer's columns, no two of one name
    stamped: bool  # whether `_ts` and `_exp` are timestamps, not ticks
    checkpoint: Checkpoint

    @property
    def clock(self) -> Clock:
        """What a tick means."""
        return Clock.TIMESTAMPS if self.stamped else Clock.TICKS

    def now(self, batch: int) -> Instant:
        """The query's clock after a batch whose changes have been asked for: the answer is known up to here."""
        any_shard = self.checkpoint.shards(batch, stage=0)[0]
        return int(read_manifest(any_shard / f"manifest-{batch}.json")["about"]["now"])

    def owner(self) -> str:
        """The streaming query that the batch numbers belong to: Spark's id, which a checkpoint keeps for good."""
        return str(json.loads((self.checkpoint.spark / "metadata").read_bytes())["id"])


@runtime_checkable
class Opening(Protocol):
    """A sink that wants to know whose changes it takes."""

    def open(self, told: Told) -> None:
        """Before the first batch of a run."""


@dataclass(frozen=True)
class Sinks:
    """Several sinks that take the same changes, one after the other; each takes a batch once, and so do they all."""

    sinks: Sequence[Sink]
    schema: StructType  # of the changes

    @property
    def in_tasks(self) -> TaskSink | None:
        """The one that takes its rows in the tasks; the others, if there are any, get theirs from it."""
        kind = TaskSink if len(self.sinks) == 1 else KeepingSink
        return next((sink for sink in self.sinks if isinstance(sink, kind)), None)

    def take(self) -> Take | None:
        """What the tasks are to do with rows, if not to give them to Spark."""
        first = self.in_tasks
        return None if first is None else first.take(self.schema)

    def open(self, told: Told) -> None:
        """Tell those that want to know."""
        for sink in self.sinks:
            if isinstance(sink, Opening):
                sink.open(told)

    def write(self, handed: DataFrame, batch: int) -> None:
        """What the tasks have handed over, rows or notes. The stages run once, whatever the number of sinks."""
        first = self.in_tasks
        if first is not None:
            first.commit(notes_of(handed), batch)
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

    @staticmethod
    def _write(sinks: Sequence[Sink], rows: DataFrame, batch: int) -> None:
        for sink in sinks:
            sink.write(rows, batch)
