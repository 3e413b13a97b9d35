"""Sources whose rows never pass through the JVM; would catch rows that are lost, doubled or unlike Spark's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import thalweg as tw
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources import ArrowSource, generator, parquet

READINGS = Schema.of(ts=DataType.TIMESTAMP, k=DataType.STRING, v=DataType.DOUBLE, n=DataType.BIGINT)
QUERY = "SELECT k, SUM(v) AS total, COUNT(*) AS c FROM s [RANGE 10 SECONDS] GROUP BY k"


def write(path: Path, seconds: range, **more: pa.Array) -> None:
    ts = [datetime(2026, 1, 1, 0, 0, s % 60, tzinfo=UTC) for s in seconds]
    columns = {"ts": pa.array(ts, pa.timestamp("us", "UTC")), "K": [f"k{s % 3}" for s in seconds]}
    columns |= {"v": pa.array([s / 2 for s in seconds], pa.float32()), "n": pa.array(list(seconds), pa.int16())}
    pq.write_table(pa.table({**columns, **more}), path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    there = tmp_path / "in"
    there.mkdir()
    for file in range(3):
        write(there / f"{file}.parquet", range(10 * file, 10 * file + 10))
    return there


def emitted(engine: Engine, checkpoint: Path) -> list[tuple[object, ...]]:
    run = engine.query(QUERY).start(checkpoint, trigger={"availableNow": True})
    run.wait_until_done()
    return sorted((tuple(row) for row in run.changes().collect()), key=str)


def test_parquet_files_give_what_spark_s_reader_gives(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    ours, theirs = Engine(spark, shards=2), Engine(spark, shards=2)
    ours.stream("s", parquet(spark, folder, READINGS, files_per_batch=1))
    reader = spark.readStream.schema(to_spark(READINGS)).option("maxFilesPerTrigger", 1)
    for file in folder.iterdir():  # Spark's reader wants the declared types
        table = pq.read_table(file)
        wide = pa.schema([*(table.field(i) for i in (0, 1)), ("v", pa.float64()), ("n", pa.int64())])
        pq.write_table(table.cast(wide), file)
    theirs.stream("s", reader.parquet(str(folder)))
    wanted = emitted(theirs, tmp_path / "theirs")
    assert len(wanted) > 30
    assert emitted(ours, tmp_path / "ours") == wanted


def test_narrow_types_and_other_spellings_are_read(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    engine = Engine(spark, shards=2)
    engine.stream("s", parquet(spark, folder, READINGS))
    run = engine.query("SELECT k, v, n FROM s [RANGE 3 SECONDS]").start(tmp_path / "c", trigger={"availableNow": True})
    run.wait_until_done()
    assert sorted(tuple(row) for row in run.answer().collect()) == [
        ("k0", 13.5, 27),
        ("k1", 14.0, 28),
        ("k2", 14.5, 29),
    ]


def test_files_that_do_not_fit_are_reported_and_the_rest_is_read(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    (folder / "not.parquet").write_bytes(b"rubbish")
    write(folder / "type.parquet", range(30, 33), n=pa.array(["x", "y", "z"]))
    pq.write_table(pq.read_table(folder / "0.parquet").drop(["v"]), folder / "lacks.parquet")
    engine = Engine(spark, shards=2)
    engine.stream("s", parquet(spark, folder, READINGS))
    run = engine.query("SELECT COUNT(*) AS c, COUNT(v) AS vs, COUNT(n) AS ns FROM s [UNBOUNDED]").start(
        tmp_path / "c", trigger={"availableNow": True}
    )
    run.wait_until_done()
    assert [tuple(row) for row in run.answer().collect()] == [(43, 33, 40)]
    reasons = sorted((Path(bad["_text"]).name, bad["_reason"]) for bad in run.bad_rows("s"))
    assert reasons[0] == ("lacks.parquet", "the file has no column v")
    assert reasons[1][0] == "not.parquet" and "cannot be read" in reasons[1][1]
    assert reasons[2] == ("type.parquet", "column n wants BIGINT, the file has string")


def test_new_files_are_read_once_after_a_restart(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    engine = tw.Engine(spark, shards=2)
    engine.stream("s", parquet(spark, folder, READINGS, files_per_batch=2))
    query = engine.query("SELECT COUNT(*) AS c FROM s [UNBOUNDED]")
    for expected in (30, 40):
        run = query.start(tmp_path / "c", trigger={"availableNow": True})
        run.wait_until_done()
        assert [row["c"] for row in run.answer().collect()] == [expected]
        write(folder / "more.parquet", range(30, 40))
    rate, progress = run.metrics().rows_per_second, run.query.lastProgress
    assert progress is not None and rate == pytest.approx(10 * 1000 / progress["batchDuration"]), "rows, not files"


def test_columns_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    source = generator(spark, "sensors", seed=1, rate=10, rows=100)
    assert isinstance(source, ArrowSource)
    few = source.choose(source.schema.names[:2])
    assert len(few.schema) == 2 and few.dataframe().columns[:2] == list(few.schema.names)


def test_late_rows_are_kept_whole_though_few_columns_are_read(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    engine = Engine(spark, shards=2)
    engine.stream("s", parquet(spark, folder, READINGS))
    query = engine.query("SELECT COUNT(*) AS c FROM s [UNBOUNDED]")
    for _ in range(2):
        run = query.start(tmp_path / "c", trigger={"availableNow": True})
        run.wait_until_done()
        write(folder / "more.parquet", range(28, 32))
    assert [row["c"] for row in run.answer().collect()] == [33]
    (late,) = run.late("s")
    assert (late["k"], late["v"], late["n"]) == ("k1", 14.0, 28)
