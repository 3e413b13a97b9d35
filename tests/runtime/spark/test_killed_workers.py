"""Would catch an answer that is lost or emitted twice when tasks die, and a shard that misses a step."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from faults.killing import difference
from faults.processes import kill, workers
from faults.program import OPTIONS, QUERY, SHARDS, changes_of, expected, netted
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.failures import QueryFailedError
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.sources.generator import generator

ROWS, PER_BATCH = 300, 100


def query(spark: SparkSession, text: str = QUERY) -> SparkQuery:
    engine = Engine(spark, shards=SHARDS)
    frame = generator(spark, "connections", rows=ROWS, rows_per_batch=PER_BATCH, partitions=2, **OPTIONS)
    engine.stream("connections", frame, ahead=None)
    return engine.query(text)


def test_a_query_whose_workers_are_killed_goes_on_when_it_is_started_again(spark: SparkSession, tmp_path: Path) -> None:
    asked, draw = query(spark), random.Random(0)
    run = asked.start(tmp_path / "checkpoint", trigger={"availableNow": True})
    while run.checkpoint.committed < 0:
        time.sleep(0.01)
    while run.query.isActive:  # this Spark gives up at the first task that dies; workers without a task do not count
        kill(workers(os.getpid()), draw)
        time.sleep(0.05)
    with pytest.raises(QueryFailedError, match="the query has ended"):
        run.wait_until_done()
    assert run.checkpoint.committed < ROWS // PER_BATCH - 1
    run = asked.start(tmp_path / "checkpoint", trigger={"availableNow": True})
    run.wait_until_done()
    assert difference(expected(ROWS), netted(changes_of(run))) == ""


class LooksFirst:
    """A sink of a kind that people write."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def write(self, changes: DataFrame, batch: int) -> None:
        if not changes.isEmpty():
            self.batches.append(batch)


def test_a_sink_that_only_looks_whether_there_is_something_lets_all_shards_go_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = LooksFirst()
    run = query(spark).start(tmp_path / "checkpoint", sink=sink, trigger={"availableNow": True})
    run.wait_until_done()
    assert sink.batches == list(range(ROWS // PER_BATCH))
    last = run.checkpoint.committed
    for stage in range(2):
        assert run.checkpoint.has_done(last, stage)
