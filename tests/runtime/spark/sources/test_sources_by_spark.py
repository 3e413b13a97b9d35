"""Directories and sockets through Spark's own readers; would catch bad rows that vanish and columns that turn NULL."""

from __future__ import annotations

import socket as sockets
import threading
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from runtime.spark.sources.batches import Sink
from thalweg.core.errors import DataError, TypeMismatchError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.schema import from_spark, to_spark
from thalweg.runtime.spark.sources import directory, socket

SCHEMA = Schema.of(ts=DataType.TIMESTAMP, k=DataType.BIGINT, s=DataType.STRING)
ROW = {"ts": datetime(2026, 1, 31, 7, tzinfo=UTC), "k": 1, "s": "x"}
GOOD = {**ROW, "_corrupt_record": None, "_corrupt_reason": None}


def test_csv_rows_that_do_not_fit_and_headers_that_differ(spark: SparkSession, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "a.csv").write_text('ts,k,s\n2026-01-31 07:00:00,1,x\nsoon,2,"y, z"\n2026-01-31\n')
    stream = directory(spark, rows, SCHEMA, "csv", pattern="*.csv")
    sink = Sink(tmp_path / "checkpoint").run(stream.select("k", "_corrupt_record", "_corrupt_reason"))
    assert [list(row.values()) for row in sink.rows] == [
        [1, None, None],
        [None, 'soon,2,"y, z"', "a.csv, line 3: this does not fit the schema"],
        [None, "2026-01-31", "a.csv, line 4: this does not fit the schema"],
    ]
    (rows / "b.csv").write_text("ts,s,k\n2026-01-31 07:00:00,1,1\n")
    with pytest.raises(StreamingQueryException, match=r"the header of b\.csv names the columns ts, s, k"):
        sink.run(stream.select("k", "_corrupt_record", "_corrupt_reason"))


def test_json_lines_that_do_not_fit_and_a_file_without_a_column(spark: SparkSession, tmp_path: Path) -> None:
    rows = tmp_path / "more rows"
    rows.mkdir()
    good = '{"ts": "2026-01-31T08:00:00+01:00", "k": 1, "s": "x", "more": []}\n'
    (rows / "a.jsonl").write_text(
        good + '{"k": "one", "s": "y"}\n{"ts"\n' + '{"ts": "2026-01-31 07:00:00", "k": 1, "s": "x"}\n'
    )
    stream = directory(spark, rows, SCHEMA, "json")
    sink = Sink(tmp_path / "checkpoint").run(stream.select("s", "_corrupt_record"))
    assert [row["s"] for row in sink.rows if row["_corrupt_record"] is None] == ["x", "x"]
    bad_rows = [row for row in sink.rows if row["_corrupt_record"]]
    assert [tuple(row.values()) for row in bad_rows] == [(None, '{"k": "one", "s": "y"}'), (None, '{"ts"')]
    (rows / "b.jsonl").write_text('{"ts": "2026-01-31 07:00:00", "key": 1, "s": "x"}\n')
    fresh = Sink(tmp_path / "another").run(stream).rows
    assert [row for row in fresh if row["_corrupt_reason"] is None] == [GOOD, GOOD, {**GOOD, "k": None}]
    (drift,) = (row for row in fresh if "no column" in (row["_corrupt_reason"] or ""))
    assert drift["_corrupt_record"].endswith("b.jsonl")
    assert drift["_corrupt_reason"] == "the file has no column k"


def test_parquet_files_one_of_which_lacks_a_column(spark: SparkSession, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    columns = {"ts": pa.array([ROW["ts"]]), "S": ["x"], "k": [1], "more": [0.5]}
    pq.write_table(pa.table(columns), rows / "a.parquet")
    pq.write_table(pa.table({name: columns[name] for name in ("ts", "k")}), rows / "b.parquet")
    found = Sink(tmp_path / "checkpoint").run(directory(spark, rows, SCHEMA, "parquet")).rows
    assert GOOD in found
    assert {**GOOD, "s": None} in found
    (drift,) = (row for row in found if row["_corrupt_reason"])
    assert (drift["_corrupt_record"][-9:], drift["_corrupt_reason"]) == ("b.parquet", "the file has no column s")


def test_a_socket_of_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    misfits = ['{"k": "two", "s": "y"}', '{"k": 2, "s": "y"']
    lines = "\n".join(['{"ts": "2026-01-31 07:00:00", "k": 1, "s": "x"}', "", *misfits, '{"k": 2}', ""]).encode()
    with sockets.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(2):  # Spark looks whether anyone is there, then comes to listen
                caller, _ = server.accept()
                with caller:
                    caller.sendall(lines)
                    caller.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        stream = socket(spark, "127.0.0.1", server.getsockname()[1], SCHEMA)
        few = stream.select("s", "_corrupt_record", "_corrupt_reason")
        query = few.writeStream.format("memory").queryName("from_socket").start()
        try:
            while spark.table("from_socket").count() < 4:
                query.processAllAvailable()
        finally:
            query.stop()
    found = {tuple(row) for row in spark.table("from_socket").collect()}
    bad_rows = {(None, text, "this does not fit the schema") for text in misfits}
    assert found == {("x", None, None), (None, None, None), *bad_rows}


def test_formats_and_types_that_there_are_not(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a directory holds no 'xml' files"):
        directory(spark, tmp_path, SCHEMA, "xml")
    assert from_spark(to_spark(SCHEMA)) == SCHEMA
    maps = spark_types.StructType().add("m", spark_types.MapType(spark_types.StringType(), spark_types.LongType()))
    with pytest.raises(TypeMismatchError, match="column m has Spark's type map<string,bigint>"):
        from_spark(maps)
