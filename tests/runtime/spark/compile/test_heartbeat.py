"""Would catch an answer that stands still because no row comes any more, and batches that nobody needs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.core.errors import CheckpointError, DataError, PlanError
from thalweg.core.time import SECOND
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.compile.heartbeat import HeartbeatReader, interval

JOIN = "SELECT a.k FROM a [RANGE 3 SECONDS], b [RANGE 3 SECONDS] WHERE a.k = b.k"


def put(folder: Path, name: str, second: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".{name}"
    path.write_text(json.dumps({"ts": f"2026-01-01 00:00:{second:02}", "k": 1}) + "\n")
    path.rename(folder / name)


def query(spark: SparkSession, folder: Path, idle: str | None, heartbeat: str | None = None) -> SparkQuery:
    engine = Engine(spark, shards=2)
    for name in ("a", "b"):
        frame = spark.readStream.schema("ts timestamp, k long").json(str(folder / name))
        engine.stream(name, frame, idle=idle)
    return engine.query(JOIN, heartbeat=heartbeat)


def eventually(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def test_a_window_empties_though_no_row_comes_any_more(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "a", "1.json", 10)
    put(tmp_path / "a", "2.json", 12)
    put(tmp_path / "b", "1.json", 10)  # and then it is silent, and soon nobody says anything
    asked = query(spark, tmp_path, "2 seconds", "500 milliseconds")
    run = asked.start(tmp_path / "checkpoint")
    run.wait()
    assert run.answer("2026-01-01 00:00:10").count() == 1
    began = run.instant("2026-01-01 00:00:10")
    eventually(lambda: run.instant() >= began + 6 * SECOND)
    assert run.answer().count() == 0
    changes = sorted((row["_t"].second, row["_sign"]) for row in run.changes().collect())
    assert changes == [(10, 1), (12, 1), (13, -2)]
    run.stop()
    stood, batches = run.instant(), run.checkpoint.committed
    run = asked.start(tmp_path / "checkpoint")  # goes on from there: no change is lost or emitted twice
    eventually(lambda: run.checkpoint.committed > batches + 1)
    assert run.instant() > stood
    assert sorted((row["_t"].second, row["_sign"]) for row in run.changes().collect()) == changes
    run.stop()


def test_without_idle_timeouts_there_is_no_heartbeat_and_no_batch_for_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        put(tmp_path / name, "1.json", 10)
    run = query(spark, tmp_path, None).start(tmp_path / "checkpoint")
    run.wait()
    progress = run.query.lastProgress
    assert progress is not None and len(progress["sources"]) == 3
    done = run.checkpoint.committed
    time.sleep(1.5)
    assert run.checkpoint.committed == done
    run.stop()
    with pytest.raises(CheckpointError, match="was first started without idle timeouts"):
        query(spark, tmp_path, "1 second").start(tmp_path / "checkpoint")


def test_a_query_that_is_to_end_does_not_wait_for_time_and_a_heartbeat_can_rest(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        put(tmp_path / name, "1.json", 10)
    run = query(spark, tmp_path, "200 milliseconds").start(tmp_path / "checkpoint", trigger={"availableNow": True})
    assert run.wait_until_done(60)
    assert run.checkpoint.committed == 0
    time.sleep(0.3)
    for name in ("a", "b"):
        put(tmp_path / name, "2.json", 11)
    run = query(spark, tmp_path, None).start(tmp_path / "checkpoint")
    run.wait()
    time.sleep(1)
    assert run.checkpoint.committed == 1
    run.stop()


def test_how_often() -> None:
    silent = [InputTime(0, None), InputTime(0, 40 * SECOND), InputTime(0, 10 * SECOND)]
    assert interval(silent, None) == 5 * SECOND
    assert interval(silent, "1 second") == SECOND
    assert interval(silent[:1], None) is None
    with pytest.raises(PlanError, match="no stream of the query has an idle timeout"):
        interval(silent[:1], "1 second")
    with pytest.raises(DataError, match="is too fast"):
        interval(silent, "1 millisecond")


def test_between_beats_there_is_a_pause_however_long_batches_take() -> None:
    reader = HeartbeatReader(SECOND)
    seconds = iter((5.0, 5.9, 6.1, 9.0, 9.9, 10.5))  # the batch of the first beat takes almost three seconds
    reader.clock = lambda: int(next(seconds) * 1e9)
    offset, beats = reader.initialOffset(), []
    for _ in range(6):
        rows, offset = reader.read(offset)
        beats.append((offset["beat"], len(list(rows))))
    assert beats == [(0, 0), (0, 0), (1, 1), (1, 0), (1, 0), (2, 1)]
    restarted = HeartbeatReader(SECOND)
    assert restarted.read(offset)[1] == offset
