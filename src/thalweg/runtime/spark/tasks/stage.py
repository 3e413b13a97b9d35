"""The tasks that run a stage: each runs the step of one shard."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.types import StructType

from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.worker.program import AnswerPart, StageSpec
from thalweg.runtime.distributed.worker.step import ShardId, run_step
from thalweg.runtime.spark.tasks.deliver import Take, earlier_notes, hand_over
from thalweg.runtime.spark.tasks.messages import from_rows, to_rows
from thalweg.runtime.spark.tasks.read import ArrowTask
from thalweg.runtime.spark.tasks.running_task import running_task, tune_process


class AnswerFormat(Protocol):
    """How changes of answers become rows of a DataFrame."""

    def type(self) -> StructType:
        """The DataFrame's columns."""

    def rows(self, parts: Sequence[AnswerPart]) -> Iterable[pa.RecordBatch]:
        """A shard's changes."""


def new_start(fence: int = 0) -> str:
    """A unique name for a start of a query; later names sort after earlier ones, see `ShardId`.

    The fence comes first, as clocks of drivers may differ. Names of older versions began with a digit.
    """
    return f"f{fence:012d}-{time.time_ns():020d}-{uuid4().hex[:8]}"


@dataclass(frozen=True)
class StageTask:
    """All that a task needs to run any shard of one stage; only the last stage has a format for answers."""

    spec: StageSpec[Any]
    checkpoint: str
    answers: AnswerFormat | None = None
    take: Take | None = None  # takes the answers' rows in the task, if they are not for Spark
    start: str = field(default_factory=new_start)
    fence: int = 0  # of the driver, see `ShardId`

    def task(self) -> ArrowTask:
        """The function for `mapInArrow`: partition k is shard k."""
        return self._run

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shard, batch = running_task()
        blobs = BlobFiles(self.checkpoint)
        if self.spec.number == 0 and shard == 0:
            blobs.remove_older(batch)
        received = list(from_rows(batches, blobs))
        result = run_step(
            self.spec, ShardId(self.start, self.checkpoint, self.spec.number, shard, self.fence), batch, received
        )
        tune_process()
        if self.answers is None:
            yield to_rows(result.messages, blobs, batch)
            return
        yield from hand_over(self.answers.rows(result.parts), self.take, batch, shard)
        yield from earlier_notes(received)
