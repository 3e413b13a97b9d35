"""What a sink is, and what it may be told about the query whose changes it takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.core.time import Clock, Instant
from thalweg.runtime.spark.checkpoint import Checkpoint
from thalweg.runtime.spark.reading import query_time


@runtime_checkable
class Sink(Protocol):
    """Takes the changes of a micro-batch: the answer's columns, `_ts`, `_exp` and `_sign`.

    A row counts `_sign` times from `_ts` (NULL: ever since) until `_exp` (NULL: not known). After a crash Spark gives
    the last batch again, with the same number: a sink must then put it where it was, not beside it.
    """

    def write(self, changes: DataFrame, batch: int) -> None:
        """One micro-batch. The changes must be asked for, even if they are then left out: that is what runs it."""


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
        return query_time(self.checkpoint.folder, batch)

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

    def open(self, told: Told) -> None:
        """Tell those that want to know."""
        for sink in self.sinks:
            if isinstance(sink, Opening):
                sink.open(told)

    def write(self, changes: DataFrame, batch: int) -> None:
        """The stages run once, whatever the number of sinks."""
        if len(self.sinks) == 1:
            self.sinks[0].write(changes, batch)
            return
        changes.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            for sink in self.sinks:
                sink.write(changes, batch)
        finally:
            changes.unpersist()
