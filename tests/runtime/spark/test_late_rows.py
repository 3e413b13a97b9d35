"""Would catch a late row that lost a column on the way because the query does not read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cli.run import lines
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


def test_side_outputs_have_a_quota(spark: SparkSession, tmp_path: Path) -> None:
    """Beyond it rows are counted, and the metrics say how many are not kept."""
    (tmp_path / "in").mkdir()
    frame = spark.readStream.schema("tick long, k string").json(str(tmp_path / "in"))
    engine = Engine(spark, shards=1)
    engine.stream("s", frame, timestamp="tick", side_output_rows=3)
    run = engine.query("SELECT k FROM s").start(tmp_path / "checkpoint")
    batches: list[list[int | None]] = [[10, None, None], [1, 2, 3, None, None], [4, 11]]
    for batch, ticks in enumerate(batches):
        put(tmp_path / "in", f"{batch}.json", *({"tick": tick, "k": "x"} for tick in ticks))
        run.wait()
    metrics = run.metrics()
    assert (metrics.late, metrics.bad_rows) == ({"s": 4}, {"s": 4})
    assert metrics.not_kept == {"late s": 1, "bad s": 1}
    assert (len(run.late("s")), len(run.bad_rows("s"))) == (3, 3)
    run.stop()
    shown = lines("state", tmp_path / "checkpoint")
    assert "side output: 4 late s, of which 1 are not kept" in shown
