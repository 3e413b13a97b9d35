"""Directories in trouble, through an engine: would catch rows counted twice, lines that vanish, and raw errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.sources import ArrowSource, directory, parquet, zeek

SCHEMA = Schema.of(tick=DataType.BIGINT, k=DataType.STRING)
Write = Callable[[Path, int], None]
Read = Callable[[SparkSession, Path], DataFrame | ArrowSource]


def write_json(path: Path, tick: int) -> None:
    path.write_text(json.dumps({"tick": tick, "k": "a"}) + "\n")


def write_csv(path: Path, tick: int) -> None:
    path.write_text(f"tick,k\n{tick},a\n")


def write_zeek(path: Path, tick: int) -> None:
    path.write_text(f"#fields\ttick\tk\n#types\tcount\tstring\n{tick}\ta\n")


def write_parquet(path: Path, tick: int) -> None:
    pq.write_table(pa.table({"tick": [tick], "k": ["a"]}), path)


def as_json(spark: SparkSession, path: Path) -> DataFrame:
    return directory(spark, path, SCHEMA, "json")


def as_csv(spark: SparkSession, path: Path) -> DataFrame:
    return directory(spark, path, SCHEMA, "csv")


def as_zeek(spark: SparkSession, path: Path) -> ArrowSource:
    return zeek(spark, path, SCHEMA)


def as_parquet(spark: SparkSession, path: Path) -> ArrowSource:
    return parquet(spark, path, SCHEMA)


@pytest.mark.parametrize(
    ("write", "read"),
    [(write_json, as_json), (write_csv, as_csv), (write_zeek, as_zeek), (write_parquet, as_parquet)],
)
def test_a_file_that_was_renamed_or_appended_to_is_named_and_not_counted_twice(
    write: Write, read: Read, spark: SparkSession, tmp_path: Path
) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    write(rows / "a.log", 1)
    engine = Engine(spark, shards=1)
    engine.stream("s", read(spark, rows), timestamp="tick")
    query = engine.query("SELECT COUNT(*) AS n FROM s")
    run = query.start(tmp_path / "checkpoint")
    run.wait()
    (rows / "a.log").rename(rows / "b.log")
    run.wait()
    with (rows / "b.log").open("ab") as file:
        file.write(b'{"tick": 2}\n')
    run.wait()
    run.stop()
    write(rows / "c.log", 3)
    run = query.start(tmp_path / "checkpoint")
    run.wait()
    assert [tuple(row) for row in run.answer().collect()] == [(2,)]
    reasons = [row["_reason"] for row in run.bad_rows("s")]
    assert len(reasons) == run.metrics().bad_rows["s"] == 2
    assert "the file was read as a.log and then renamed" in reasons[0]
    assert "the file has grown by 12 bytes since it was read" in reasons[1]
    assert all("b.log" in row["_text"] for row in run.bad_rows("s"))
    run.stop()


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_lines_that_are_too_long_or_no_utf8_keep_their_text(format_: str, spark: SparkSession, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    long = "x" * 3_000
    if format_ == "json":
        lines = [b'{"tick": 1, "k": "a"}', b'{"tick": 2, "k": "\xff\xfe"}', f'{{"tick": 3, "k": "{long}"}}'.encode()]
        lines += [b'{"tick": 4', b"not JSON at all", b'[{"tick": 5}, {"tick": 6}]', b"", b'{"tick": 7, "k": "b"}']
    else:
        lines = [
            b"\xef\xbb\xbftick,k",
            b"1,a",
            b"2,\xff\xfe",
            f"3,{long}".encode(),
            b"4",
            b"not,csv",
            b"5,6,7",
            b"",
            b"7,b",
        ]
    (rows / "a").write_bytes(b"\r\n".join(lines))
    engine = Engine(spark, shards=1)
    engine.stream("s", directory(spark, rows, SCHEMA, format_, longest_line=1_000), timestamp="tick")
    run = engine.query("SELECT k FROM s").start(tmp_path / "checkpoint")
    run.wait()
    assert sorted(tuple(row) for row in run.answer().collect()) == [("a",), ("b",)]
    bad = {row["_reason"]: row["_text"] for row in run.bad_rows("s")}
    first = 1 if format_ == "json" else 2
    assert r"\xff\xfe" in bad[f"a, line {first + 1}: this is not UTF-8"]
    (too_long,) = (reason for reason in bad if "bytes, and at most 1,000 are read" in reason)
    assert too_long.startswith(f"a, line {first + 2}: ") and bad[too_long].endswith("xxx...")
    misfits = [bad[f"a, line {first + i}: this does not fit the schema"] for i in (3, 4, 5)]
    assert misfits == [lines[i + first - 1].decode() for i in (3, 4, 5)]
    assert run.metrics().bad_rows == {"s": 5}
    run.stop()


def test_bad_rows_of_any_dataframe_can_be_read(spark: SparkSession, tmp_path: Path) -> None:
    """A source of Spark's own may hold strings that are no UTF-8."""
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a").write_bytes(b"bad \xff\xfe\nbad too\n")
    lines = spark.readStream.text(str(tmp_path / "rows"))
    frame = lines.select(
        sf.lit(None).cast("long").alias("tick"), "value", sf.col("value").alias("_corrupt_record"),
        sf.lit("why not").alias("_corrupt_reason"),
    )  # fmt: skip
    engine = Engine(spark, shards=1)
    engine.stream("s", frame, timestamp="tick")
    run = engine.query("SELECT value FROM s").start(tmp_path / "checkpoint")
    run.wait()
    found = run.bad_rows("s")
    assert [row["_text"] for row in found] == [r"bad \xff\xfe", "bad too"]
    assert [row["value"] for row in found] == [r"bad \xff\xfe", "bad too"]
    run.stop()
