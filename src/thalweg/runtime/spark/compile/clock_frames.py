"""Messages that let time pass: users' commands and heartbeats. Made in the JVM, they cost no Python task."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.core.errors import CheckpointError
from thalweg.core.time import BEGINNING
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.exchange.message import MessageKind
from thalweg.runtime.spark.compile.heartbeat import NEVER, HeartbeatSource
from thalweg.runtime.spark.tasks.messages import MESSAGE_SCHEMA
from thalweg.runtime.spark.tasks.running_task import batch_time_column

LINE = "line"  # the column of `lines_of`


def clock_frames(spark: SparkSession, checkpoint: Checkpoint, shards: int, every: int | None) -> list[DataFrame]:
    """Users' commands, and a heartbeat after `every` microseconds, if the query has one.

    Commands are files that Spark reads as a stream, so it knows which batch has read which of them.
    """
    checkpoint.control.mkdir(parents=True, exist_ok=True)
    lines = lines_of(spark, checkpoint.control)
    commands = for_every_shard(lines, shards, MessageKind.CONTROL, sf.lit(BEGINNING), sf.col(LINE))
    beat = _heartbeat(spark, checkpoint, shards, every)
    return [commands] if beat is None else [commands, beat]


def lines_of(spark: SparkSession, folder: Path) -> DataFrame:
    """The lines of all files that come to a folder, as `FileLine`s in a binary column; shards check and parse them."""
    line = sf.concat_ws("\n", sf.col("_metadata.file_name"), sf.col("value"))
    return spark.readStream.text(str(folder)).select(line.cast("binary").alias(LINE))


def _heartbeat(spark: SparkSession, checkpoint: Checkpoint, shards: int, every: int | None) -> DataFrame | None:
    """The beats as messages for all shards; None if the query has no heartbeat.

    Spark can neither add a source to a query that has run nor remove one. So a heartbeat that is no longer needed
    stays, and never beats.
    """
    if not checkpoint.heartbeat.exists():
        if every is None:
            return None
        if checkpoint.committed >= 0:
            raise CheckpointError(
                f"{checkpoint.folder} was first started without idle timeouts, and so has no heartbeat",
                hint="start the query without idle= and heartbeat=, or anew with another checkpoint",
            )
        replace_file(checkpoint.heartbeat, b"")
    spark.dataSource.register(HeartbeatSource)
    rows = spark.readStream.format(HeartbeatSource.name()).option("micros", every or NEVER).load()
    return for_every_shard(rows, shards, MessageKind.HEARTBEAT, sf.lit(BEGINNING))


def for_every_shard(
    rows: DataFrame, shards: int, kind: MessageKind, clock: Column, blob: Column | None = None
) -> DataFrame:
    """One message for each row and shard."""
    shard = sf.explode(sf.array(*map(sf.lit, range(shards)))).alias("group")
    zero, no_ref = sf.lit(0), [sf.lit(None).cast(type_) for type_ in ("string", "long", "long", "string")]
    content = sf.lit(b"") if blob is None else blob
    columns = [sf.lit(int(kind)), shard, zero, zero, clock.cast("long"), batch_time_column(), content, *no_ref]
    return rows.select(*columns).toDF(*MESSAGE_SCHEMA.names)
