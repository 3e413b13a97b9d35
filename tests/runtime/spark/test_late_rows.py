"""Would catch a late row that lost a column on the way because the query does not read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from thalweg.core.errors import DataError
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.inputs import Late


def put(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f".{name}").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / f".{name}").rename(folder / name)


@pytest.mark.parametrize(("keep", "note"), [("whole", "mine"), ("needed", None)])
def test_late_rows_are_whole_unless_it_was_said_otherwise(
    keep: Late, note: str | None, spark: SparkSession, tmp_path: Path
) -> None:
    engine = Engine(spark, shards=2)
    put(tmp_path / "s", "1.json", *({"tick": t, "k": "a", "note": "on time", "v": 0.5} for t in (9, 10)))
    frame = spark.readStream.schema("tick long, k string, note string, v double").json(str(tmp_path / "s"))
    engine.stream("s", frame, timestamp="tick", lateness=2, keep_late=keep)
    run = engine.query("SELECT k, COUNT(*) AS n FROM s GROUP BY k").start(tmp_path / "checkpoint")
    run.wait()
    assert run.now == 8
    put(tmp_path / "s", "2.json", {"tick": 7, "k": "a", "note": "mine", "v": 1.5}, {"tick": 8, "k": "a"})
    run.wait()
    run.drain()
    run.wait()
    assert [(row["k"], row["note"], row["_time"]) for row in run.late("s")] == [("a", note, 7)]
    assert (run.metrics().late, run.metrics().bad_rows) == ({"s": 1}, {})
    assert [tuple(row) for row in run.answer().collect()] == [("a", 3)]
    run.stop()


def test_how_late_rows_are_kept_is_checked(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    frame = spark.readStream.schema("ts timestamp, k string").json(str(tmp_path / "s"))
    with pytest.raises(DataError, match="late rows of s cannot be kept 'in part'"):
        Engine(spark).stream("s", frame, keep_late="in part")  # type: ignore[arg-type]
