"""Would catch streams that lose rows, order or Spark's offsets because they share tasks, or that share them in vain."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.catalog import Stream
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.layouts import Layout, Layouts
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.compile.stream_frames import StreamPlan, stream_frames
from thalweg.runtime.spark.inputs import StreamInput
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources import parquet
from thalweg.runtime.spark.sources.parquet import ParquetFiles

ROWS = Schema.of(tick=DataType.BIGINT, k=DataType.BIGINT, note=DataType.STRING)
NAMES = ("a", "b", "c", "d")
QUERY = """
    SELECT a.k, a.note, b.note AS b, c.note AS c, d.note AS d
    FROM a [ROWS 9], b [ROWS 9], c [ROWS 9], d [ROWS 9] WHERE a.k = b.k AND b.k = c.k AND c.k = d.k
"""


def files(folder: Path) -> Path:
    """Files of four streams; one row of `b` comes too late."""
    for place, name in enumerate(NAMES):
        (folder / name).mkdir(parents=True)
        for number in range(6):
            ticks = [10 * number + i + 1 for i in range(9)]
            if (name, number) == ("b", 4):
                ticks[0] = 1
            notes = [f"{name}{number}.{i}" for i in range(9)]
            table = pa.table({"tick": ticks, "k": [(i + place) % 5 for i in range(9)], "note": notes})
            path = folder / name / f"{number}.parquet"
            pq.write_table(table, path)
            os.utime(path, (number, number))  # Spark takes files in order of their times
    return folder


def changes_and_late_rows(
    spark: SparkSession, folder: Path, checkpoint: Path, arrow: str
) -> tuple[list[str], list[str]]:
    """Changes and late rows; the streams named in `arrow` are loaded from descriptions, the others by Spark."""
    engine = Engine(spark, shards=2)
    for name in NAMES:
        read = spark.readStream.schema(to_spark(ROWS)).option("maxFilesPerTrigger", 2)
        by_spark, ours = (
            read.parquet(str(folder / name)),
            parquet(spark, folder / name, ROWS, files_per_batch=2),
        )
        engine.stream(name, ours if name in arrow else by_spark, timestamp="tick", lateness=5)
    run = engine.query(QUERY).start(checkpoint, trigger={"availableNow": True})
    run.wait_until_done()
    late = [f"{row['note']} at {row['_time']}" for row in run.late("b")]
    return sorted(map(str, run.changes().collect())), late


def test_streams_that_share_tasks_give_what_each_gives_alone(spark: SparkSession, tmp_path: Path) -> None:
    folder = files(tmp_path / "in")
    wanted = changes_and_late_rows(spark, folder, tmp_path / "none", "")
    assert len(wanted[0]) > 50
    assert wanted[1] == ["b4.0 at 1"]
    for arrow in ("abcd", "abd"):
        assert changes_and_late_rows(spark, folder, tmp_path / arrow, arrow) == wanted, arrow


def read(frame: DataFrame, name: str, described: bool = True) -> StreamPlan:
    layouts = Layouts(4, (Layout(0, 2),))
    load = ParquetFiles(ROWS, "nowhere") if described else None
    schema = Schema(tuple(f for f in ROWS if f.name != "tick"))
    stream = StreamInput(Stream(name, schema), frame, "tick", InputTime(0, None), None, "needed", load)
    return StreamPlan(stream, (0,), StreamReader(name, Schema((schema[0],)), ((0, None),), layouts, False))


def test_more_streams_than_cores_share_as_many_tasks_as_cores(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("x",), ("y",)], "path string").repartition(2)
    for streams, tasks in ((1, 2), (2, 4), (3, 2), (6, 2)):
        (messages,) = stream_frames([read(frame, f"s{i}") for i in range(streams)], "nowhere")
        assert messages.rdd.getNumPartitions() == tasks, streams


def test_streams_stay_in_order(spark: SparkSession) -> None:
    paths, rows = spark.createDataFrame([("x",)], "path string"), spark.createDataFrame([], to_spark(ROWS))
    ranges = spark.createDataFrame([(1, 2)], "first long, last long")
    streams = [
        read(paths, "a"),
        read(paths, "b"),
        read(rows, "c", described=False),
        read(paths, "d"),
        read(ranges, "e"),
    ]
    assert len(stream_frames(streams, "nowhere")) == 4
