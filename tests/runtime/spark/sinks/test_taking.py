"""Would catch a sink in the tasks that counts what a second task wrote, loses a batch, or changes types on the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from runtime.spark.sinks.crashing_sink import query
from runtime.spark.sinks.test_sinks import put
from thalweg.core.errors import CheckpointError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.sinks import ParquetSink
from thalweg.runtime.spark.sinks.base import Sinks
from thalweg.runtime.spark.tasks.answer_rows import answer_type
from thalweg.runtime.spark.tasks.deliver import hand_over

SCHEMA = answer_type(Schema((Field("k", DataType.STRING),)), stamped=False)
ROWS = pa.record_batch(
    [pa.array(["a", None]), pa.array([1, 2]), pa.array([6, None]), pa.array([1, -1], pa.int8())], SCHEMA.names
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_only_the_notes_that_count_make_the_batch(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    take = sink.take(SCHEMA)
    notes = [take([ROWS], 0, part) for part in (0, 1)]
    another = take([ROWS], 0, 1)  # the same task, run twice at once
    assert len({*notes, another}) == 3
    assert names(tmp_path) == ["_taken"], "nothing is seen before the batch is whole"
    sink.commit(notes, 0)
    assert names(tmp_path) == ["batch=0"]
    assert names(tmp_path / "batch=0") == sorted(notes)
    again = [take([ROWS], 0, 0)]  # after a crash the batch comes again
    sink.commit(again, 0)
    assert names(tmp_path / "batch=0") == again


def test_a_commit_that_was_cut_short_is_mended_by_the_next(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    (tmp_path / "_taken" / "0.whole").mkdir(parents=True)
    (tmp_path / "_taken" / "0.whole" / "part-00000-old.parquet").write_bytes(b"half")
    note = sink.take(SCHEMA)([ROWS], 0, 0)
    sink.commit([note], 0)
    assert names(tmp_path / "batch=0") == [note]


def test_a_batch_without_rows_has_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    take = sink.take(SCHEMA)
    notes = [take([], 0, part) for part in (0, 1)]
    assert notes[1] == ""
    sink.commit([note for note in notes if note], 0)
    assert spark.read.parquet(str(tmp_path)).columns == [*SCHEMA.names, "batch"]
    assert sink.rows(spark, SCHEMA, 0).count() == 0


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="batch=0 cannot be written") as raised:
        ParquetSink(tmp_path).commit(["part-00000-elsewhere.parquet"], 0)
    assert "all of Spark's workers" in str(raised.value)


def test_every_type_comes_back_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(
        [(True, 1, 2.5, "ü", datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=3)), (None,) * 6],
        "b boolean, l long, d double, s string, t timestamp, i interval day to second",
    )
    sink = ParquetSink(tmp_path)
    sink.write(frame, 0)
    assert sorted(spark.read.parquet(str(tmp_path / "batch=0")).collect(), key=str) == sorted(frame.collect(), key=str)
    assert spark.read.parquet(str(tmp_path / "batch=0")).dtypes == frame.dtypes


def test_rows_are_noted_or_given() -> None:
    assert list(hand_over([ROWS], None, 3, 1)) == [ROWS]
    (noted,) = hand_over([ROWS], lambda rows, batch, part: f"{len(list(rows))} {batch} {part}", 3, 1)
    assert noted.to_pydict() == {"note": ["1 3 1"]}


def test_two_parquet_sinks_hold_the_same(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "0", (1, "a"), (2, "b"), (2, "b"))
    both = [ParquetSink(tmp_path / "one"), ParquetSink(tmp_path / "two")]
    assert Sinks(both, SCHEMA).in_tasks is both[0]
    run = query(spark, tmp_path).start(tmp_path / "checkpoint", sink=both)
    run.wait()
    run.stop()
    one, two = (pq.read_table(tmp_path / name).sort_by("k").to_pylist() for name in ("one", "two"))
    assert one == two
    assert [row["k"] for row in one] == ["a", "b", "b"]
