"""Generators and replayed tables on Spark; would catch rows lost, repeated or changed by a crash and a restart."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from runtime.spark.sources.batches import Sink
from thalweg.core.errors import DataError, NameNotFoundError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.generators import make
from thalweg.runtime.spark.schema import from_spark, to_arrow
from thalweg.runtime.spark.sources import BAD_ROW_COLUMNS, generator, replay
from thalweg.runtime.spark.sources.replay import ReplayReader
from thalweg.runtime.spark.sources.rows import Pace

READINGS = Schema.of(ts=DataType.TIMESTAMP, k=DataType.BIGINT, v=DataType.DOUBLE, d=DataType.INTERVAL)


def test_a_generator_gives_the_same_rows_after_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    source = generator(spark, "sensors", seed=3, rate=50, rows=5_000, rows_per_batch=2_000, partitions=2)
    assert source.schema == make("sensors").schema
    df = source.dataframe().drop(*BAD_ROW_COLUMNS.names)
    assert df.isStreaming
    assert from_spark(df.schema) == source.schema
    sink = Sink(tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException, match="the sink fails"):
        sink.run(df, fail_at=1)
    sink.run(df)
    assert sink.sizes == [2_000, 2_000, 1_000]
    wanted = make("sensors", seed=3, rate=50)
    assert sink.rows == wanted.table(0, 5_000).cast(to_arrow(wanted.schema)).to_pylist()


def test_a_generator_s_mistakes_are_reported_at_once(spark: SparkSession) -> None:
    with pytest.raises(NameNotFoundError, match="there is no generator sensor"):
        generator(spark, "sensor")
    with pytest.raises(DataError, match="speed wants a number above 0"):
        generator(spark, "sensors", speed=-1.0)


def table() -> pa.Table:
    """Rows out of order, two of them at one instant, with other types than those declared."""
    seconds = [30, 10, 20, 10]
    return pa.table(
        {
            "K": pa.array([1, 2, 3, 4], pa.int16()),
            "ts": pa.array([s * 10**9 for s in seconds], pa.timestamp("ns")),
            "v": pa.array([1, None, 3, 4], pa.float32()),
            "more": ["a", "b", "c", "d"],
            "d": pa.array([1, 2, None, 4], pa.duration("s")),
        }
    )


def test_a_table_comes_in_order_of_time_and_only_once(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "t.parquet")
    stream = replay(spark, tmp_path / "t.parquet", "ts", READINGS, rows_per_batch=3, staging=tmp_path / "staging")
    sink = Sink(tmp_path / "one").run(stream.dataframe())
    assert sink.sizes == [3, 1]
    assert [(row["k"], row["v"]) for row in sink.rows] == [(2, None), (4, 4.0), (3, 3.0), (1, 1.0)]
    assert sink.rows[0]["ts"] == datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC)
    again = replay(spark, table(), "ts", READINGS, rows_per_batch=3, staging=tmp_path / "staging")
    assert sink.run(again.dataframe()).sizes == [3, 1], "no row comes twice"
    assert len(list((tmp_path / "staging").iterdir())) == 1, "the same rows are the same file"


def test_what_is_staged_is_the_same_from_a_csv_file_and_a_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    few = Schema(READINGS.fields[:3])
    (tmp_path / "t.csv").write_text("ts,k,v\n1970-01-01 00:00:30,1,1\n1970-01-01 00:00:10,2,\n")
    rows = [(datetime(1970, 1, 1, 0, 0, 30), 1, 1.0), (datetime(1970, 1, 1, 0, 0, 10), 2, None)]
    replay(spark, str(tmp_path / "t.csv"), "ts", few, staging=tmp_path / "staging")
    df = spark.createDataFrame(rows, "ts timestamp_ntz, k int, v double")
    assert replay(spark, df, "ts", few, staging=tmp_path / "staging").dataframe().isStreaming
    (staged,) = (tmp_path / "staging").iterdir()
    assert pq.read_table(staged).column("k").to_pylist() == [2, 1]


def test_a_table_at_its_own_speed(tmp_path: Path) -> None:
    seconds = [10, 10, 20, 30]
    ordered = pa.table({"ts": pa.array([s * 10**6 for s in seconds], pa.timestamp("us", "UTC"))})
    pq.write_table(ordered, tmp_path / "t.parquet")
    dealt = ReplayReader(str(tmp_path / "t.parquet"), "ts", Pace(4, 10, 1, 1.0))
    assert [dealt.due(0, s) for s in (0.0, 9.5, 10.0, 19.9, 99.0)] == [2, 2, 3, 3, 4]
    assert [dealt.due(2, s) for s in (0.0, 10.0)] == [3, 4]
    assert dealt.due(4, 1.0) == 4


def test_tables_that_cannot_be_replayed(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("ts,k\nsoon,1\n")
    few = Schema(READINGS.fields[:2])
    holes = pa.table({"ts": pa.array([None, 1], pa.timestamp("us")), "k": [1, 2]})
    with pytest.raises(DataError, match="1 rows have no time: ts must not be NULL"):
        replay(spark, holes, "ts", few)
    with pytest.raises(DataError, match="there is no column t to order by"):
        replay(spark, holes, "t", few)
    with pytest.raises(DataError, match="the table has no column v"):
        replay(spark, holes, "ts", READINGS)
    with pytest.raises(DataError, match="column k wants BIGINT, the table has string"):
        replay(spark, pa.table({"ts": holes.column("ts"), "k": ["x", "y"]}), "ts", few)
    with pytest.raises(DataError, match=r"cannot read .*t\.csv"):
        replay(spark, tmp_path / "t.csv", "ts", few)
    with pytest.raises(DataError, match="cannot tell the format from the name"):
        replay(spark, "t.txt", "ts", few)
