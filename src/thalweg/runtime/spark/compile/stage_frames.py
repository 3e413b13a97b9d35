"""From messages to answers: an exchange and a stage, one after the other, all in the same micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.core.time import BEGINNING
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.folder import CONTROL_CLOCK, Checkpoint
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import MessageKind
from thalweg.runtime.distributed.ingest.table_reader import table_changes
from thalweg.runtime.distributed.worker.program import RunSpec
from thalweg.runtime.spark.api.inputs import TableInput
from thalweg.runtime.spark.compile.heartbeat import heartbeat
from thalweg.runtime.spark.tasks.deliver import NOTES, Take
from thalweg.runtime.spark.tasks.messages import MESSAGES, for_every_shard
from thalweg.runtime.spark.tasks.stage import AnswerFormat, StageTask


@dataclass(frozen=True)
class Compiled:
    """A query or a flow as one streaming DataFrame, of changes or of notes about them, and the spec of its tasks."""

    frame: DataFrame
    spec: RunSpec


def compile_stages(
    sent: Sequence[DataFrame], spec: RunSpec, checkpoint: Checkpoint, answers: AnswerFormat, take: Take | None
) -> Compiled:
    """The stages, given the messages that are sent to the first one.

    The DataFrame has the changes of answers; if tasks are to `take` these, it has notes instead.
    """
    frame, folder, shards = reduce(DataFrame.union, sent), str(checkpoint.folder), spec.shards
    for stage in spec.stages:
        by_shard = frame.repartitionById(shards, sf.col("group") % shards)
        if stage is not spec.stages[-1]:
            frame = by_shard.mapInArrow(StageTask(stage, folder).task(), MESSAGES)
        else:
            last = StageTask(stage, folder, answers, take).task()
            frame = by_shard.mapInArrow(last, answers.type() if take is None else NOTES)
    return Compiled(frame, spec)


def clock_frames(spark: SparkSession, checkpoint: Checkpoint, shards: int, every: int | None) -> list[DataFrame]:
    """Messages that let time pass: users' commands, and a heartbeat `every` so often if the query has one.

    Commands are files in a folder, so that Spark remembers which batch has seen which.
    """
    checkpoint.control.mkdir(parents=True, exist_ok=True)
    rows = spark.readStream.schema(f"{CONTROL_CLOCK} long").json(str(checkpoint.control))
    clock = sf.col(CONTROL_CLOCK)
    kind = sf.when(clock.isNull(), int(MessageKind.DRAIN)).otherwise(int(MessageKind.ADVANCE))
    commands = for_every_shard(rows, shards, kind, sf.coalesce(clock, sf.lit(BEGINNING)))
    beat = heartbeat(spark, checkpoint, shards, every)
    return [commands] if beat is None else [commands, beat]


def table_file(table: TableInput, checkpoint: Checkpoint) -> Path:
    """The file with a table's rows when the query first started: tasks get its name, not the rows."""
    path = checkpoint.tables / f"{table.relation.name}.arrow"
    if not path.exists():
        replace_file(path, pack(table_changes(table.whole())))
    return path
