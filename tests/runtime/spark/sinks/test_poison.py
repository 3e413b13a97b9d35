"""Would catch a value or a name that stops a table sink for ever, and a row that vanishes without a word."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from runtime.spark.sinks.databases import bag, select, start_postgres
from runtime.spark.sinks.test_sinks import put
from runtime.spark.sinks.test_table_sink import changes
from thalweg.algebra.catalog import Stream
from thalweg.algebra.plan import StreamScan
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.ingest.quota import Quota
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.schema import to_arrow
from thalweg.runtime.spark.sinks import Database, SinkContext, TableSink, sqlite
from thalweg.runtime.spark.sinks.column_names import table_columns
from thalweg.runtime.spark.sinks.rejected import RejectedRows

SCHEMA = Schema.of(k=DataType.BIGINT, s=DataType.STRING)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    handle, database = start_postgres(tmp_path_factory.mktemp("postgres"))
    yield database
    handle.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        return sqlite(tmp_path / "answers.db")
    found: Database = request.getfixturevalue("server")
    return found


def sink(database: Database, table: str, folder: Path, schema: Schema = SCHEMA, **options: Any) -> TableSink:
    made = TableSink(database, table, **options)
    made.open(SinkContext(StreamScan(Stream("s", schema)), False, Checkpoint(folder)))
    return made


def test_a_nul_character_in_postgres_is_rejected_and_all_else_is_written(server: Database, tmp_path: Path) -> None:
    table = sink(server, "nul", tmp_path)
    rows = [(i, f"good {i}", 1, None, 1) for i in range(20)]
    poison = [(100, "a\0b", 1, 3, 1), (101, "\0", 1, None, 1)]
    for _ in range(2):  # the batch comes again
        table.put(changes(*rows[:7], poison[0], *rows[7:], poison[1]), 0, 2, "mine")
        assert bag(table.answer()) == {(i, f"good {i}"): 1 for i in range(20)}
    kept = RejectedRows.of(Checkpoint(tmp_path).side_outputs, table.name)
    assert {(row["k"], row["s"], row["_count"], row["_at"]) for row in kept.rows()} == {
        (100, "a\0b", 1, 2), (100, "a\0b", -1, 3), (101, "\0", 1, 2),
    }  # fmt: skip
    assert all("cannot contain NUL" in row["_reason"] for row in kept.rows())
    assert (kept.count.total, kept.count.not_kept) == (3, 0)
    table.put(changes((101, "\0", 4, None, -1), (0, "good 0", 4, None, -1)), 1, 4, "mine")
    assert bag(table.answer()) == {(i, f"good {i}"): 1 for i in range(1, 20)}
    assert kept.count.total == 4


def test_a_nul_character_in_sqlite_is_kept(tmp_path: Path) -> None:
    table = sink(sqlite(tmp_path / "answers.db"), "nul", tmp_path)
    table.put(changes((1, "a\0b", 1, None, 1)), 0, 2, "mine")
    assert bag(table.answer()) == {(1, "a\0b"): 1}


def test_beyond_the_quota_rows_are_only_counted(server: Database, tmp_path: Path) -> None:
    table = sink(server, "quota", tmp_path, quota=Quota(rows=3))
    for batch in range(3):
        for _ in range(2):
            table.put(changes((batch, "\0", 1, None, 1), (-1 - batch, "\0", 1, None, 1)), batch, batch + 1, "mine")
    kept = RejectedRows.of(Checkpoint(tmp_path).side_outputs, table.name)
    assert (len(kept.rows()), kept.count.total, kept.count.not_kept) == (3, 6, 3)


ODD = ["_count", "_KEY", "_at", "a", "A", "x" * 70, "x" * 71, "", "ctid", "n\0", "ü" * 40, "_ts", "_sign"]


def test_any_names_of_columns_become_names_that_the_table_can_have(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schema = Schema.of(**dict.fromkeys(ODD, DataType.BIGINT))
    with caplog.at_level(logging.WARNING, "thalweg.sinks"):
        table = sink(database, "odd", tmp_path, schema)
    assert "the answer's column _count is called _count_2 in the table" in caplog.text
    named = SinkContext(StreamScan(Stream("s", schema)), False, Checkpoint(tmp_path)).schema
    arrow = pa.schema([*to_arrow(named), ("_ts", pa.int64()), ("_exp", pa.int64()), ("_sign", pa.int8())])
    row = [*range(len(ODD)), 1, None, 1]
    tuples = pa.Table.from_arrays([pa.array([v], f.type) for v, f in zip(row, arrow, strict=True)], schema=arrow)
    for _ in range(2):
        table.put(tuples, 0, 2, "mine")
        assert bag(table.answer()) == {tuple(range(len(ODD))): 1}
    columns = ", ".join(database.name(name) for name in table.columns.values())
    assert select(database, f"SELECT {columns} FROM odd") == [tuple(range(len(ODD)))]


@given(st.lists(st.text(max_size=80), max_size=12))
def test_names_are_unique_short_and_the_same_each_time(names: list[str]) -> None:
    found = table_columns(names, ["_count", "ctid"], 63)
    folded = [name.casefold() for name in found]
    assert len(set(folded)) == len(names) and not {"_count", "ctid"} & set(folded)
    assert all(0 < len(name.encode()) <= 63 and "\0" not in name for name in found)
    assert found == table_columns(names, ["_count", "ctid"], 63)
    simple = [f"c{i}" for i in range(len(names))]
    assert table_columns(simple, ["_count"], 63) == simple


def test_a_name_of_a_table_that_is_too_long_is_refused_at_once(server: Database, tmp_path: Path) -> None:
    sink(server, "public." + "t" * 51, tmp_path).put(changes((1, "a", 1, None, 1)), 0, 2, "mine")
    with pytest.raises(DataError, match="would need names of more than 63 bytes"):
        sink(server, "t" * 52, tmp_path)


def test_a_running_query_tells_of_rejected_rows(server: Database, spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "0", (1, "a"), (2, "\\u0000b"))
    engine = Engine(spark, shards=1)
    engine.stream("s", spark.readStream.schema("ts long, k string").json(str(tmp_path / "in")))
    table = TableSink(server, "running")
    run = engine.query("SELECT k AS _key, 1 AS _ts FROM s").start(tmp_path / "checkpoint", sink=table)
    run.wait()
    assert bag(table.answer()) == {("a", 1): 1}
    assert run.metrics().rejected == {"TableSink running": 1}
    (row,) = run.rejected()
    assert (row["_key"], run.rejected(sink="TableSink running"), run.rejected(sink="another")) == ("\0b", [row], [])
    put(tmp_path, "1", (3, "c"))
    run.wait()
    assert sum(bag(table.answer()).values()) == 2
    run.stop()
