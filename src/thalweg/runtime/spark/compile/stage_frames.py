"""The stages as one DataFrame: an exchange, a stage, an exchange, a stage ... all in the same micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.checksums import sealed_arrow
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.ingest.table_reader import table_changes
from thalweg.runtime.distributed.worker.program import RunSpec
from thalweg.runtime.spark.inputs import TableInput
from thalweg.runtime.spark.tasks.deliver import NOTES, Take
from thalweg.runtime.spark.tasks.messages import MESSAGES
from thalweg.runtime.spark.tasks.stage import AnswerFormat, StageTask, new_start


@dataclass(frozen=True)
class Compiled:
    """A query or a flow as one streaming DataFrame, of changes or of notes about them, and the spec of its tasks."""

    frame: DataFrame
    spec: RunSpec


def compile_stages(
    sent: Sequence[DataFrame],
    spec: RunSpec,
    checkpoint: Checkpoint,
    answers: AnswerFormat,
    take: Take | None,
    fence: int = 0,
) -> Compiled:
    """The stages, given the messages that are sent to the first one; `fence` is that of the driver's lease.

    The DataFrame has the changes of answers; if tasks are to `take` these, it has notes instead.
    """
    start = new_start(fence)
    frame, folder, shards = reduce(DataFrame.union, sent), str(checkpoint.folder), spec.shards
    for stage in spec.stages:
        by_shard = frame.repartitionById(shards, sf.col("group") % shards)
        if stage is not spec.stages[-1]:
            frame = by_shard.mapInArrow(StageTask(stage, folder, start=start, fence=fence).task(), MESSAGES)
        else:
            last = StageTask(stage, folder, answers, take, start, fence).task()
            frame = by_shard.mapInArrow(last, answers.type() if take is None else NOTES)
    return Compiled(frame, spec)


def table_file(table: TableInput, checkpoint: Checkpoint) -> Path:
    """The file with a table's rows, written at the first start; tasks get its name, not the rows."""
    path = checkpoint.table(table.relation.name)
    if not path.exists():
        if checkpoint.spark.exists():
            raise CheckpointError(
                f"{path} is missing; it has the rows of {table.relation.name} as they were at the first start",
                hint="restore it from a backup, or start the query anew with another checkpoint",
            )
        replace_file(path, sealed_arrow(pack(table_changes(table.whole()))))
    return path
