"""Would catch an advance that overtakes rows which were there before it, and so makes them late."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query_run import SparkQueryRun

FILES = 4


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Iterator[SparkQueryRun]:
    """A query that has just been started, with rows for as many batches as there are files."""
    (tmp_path / "s").mkdir()
    for number in range(FILES):
        path = tmp_path / "s" / f"{number}.json"
        path.write_text(json.dumps({"tick": number, "k": "a"}) + "\n")
        os.utime(path, (number, path.stat().st_mtime - FILES + number))  # Spark takes the oldest first
    frame = spark.readStream.schema("tick long, k string").option("maxFilesPerTrigger", 1).json(str(tmp_path / "s"))
    engine = Engine(spark, shards=2)
    engine.stream("s", frame, timestamp="tick")
    started = engine.query("SELECT COUNT(*) AS n FROM s").start(tmp_path / "checkpoint")
    yield started
    started.stop()


@pytest.mark.parametrize("command", ["advance", "drain"])
def test_a_command_waits_for_the_rows_that_are_there(run: SparkQueryRun, command: str) -> None:
    run.advance(100) if command == "advance" else run.drain()
    run.wait()
    assert run.late("s") == []
    assert [tuple(row) for row in run.answer().collect()] == [(FILES,)]
    assert run.now == (100 if command == "advance" else FILES - 1)


def test_a_command_at_once_makes_them_late(run: SparkQueryRun) -> None:
    run.advance(100, at_once=True)
    run.wait()
    assert run.now == 100
    assert run.metrics().late["s"] > 0


def test_a_query_that_has_ended_takes_commands_for_its_next_start(run: SparkQueryRun) -> None:
    run.wait()
    run.stop()
    run.advance(100)
    assert len(list(run.checkpoint.control.glob("*.json"))) == 1
