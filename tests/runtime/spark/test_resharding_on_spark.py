"""Would catch rows that are lost or emitted twice when a query on Spark goes on in another number of shards."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from faults.killing import difference
from faults.program import OPTIONS, QUERY, changes_of, expected, netted
from thalweg.core.errors import SinkError
from thalweg.runtime.distributed.checkpoint.inspection import shards as held
from thalweg.runtime.distributed.checkpoint.layouts import Layout
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.sinks import ParquetSink, Sink
from thalweg.runtime.spark.sources.generator import generator

ROWS, PER_BATCH = 800, 100


class Failing:
    """A sink behind others, which fails at a batch: the shards have done it, and it is to be run again."""

    def __init__(self, batch: int) -> None:
        self._batch = batch

    def write(self, changes: DataFrame, batch: int) -> None:
        if batch == self._batch:
            raise OSError("no more")


def run(spark: SparkSession, folder: Path, shards: int, rows: int, *sinks: Sink) -> SparkQueryRun:
    """A join, then a GROUP BY, over as many rows."""
    engine = Engine(spark, shards=shards)
    frame = generator(spark, "connections", rows=rows, rows_per_batch=PER_BATCH, partitions=2, **OPTIONS)
    engine.stream("connections", frame, ahead=None)
    parquet = ParquetSink(folder / "changes")
    return engine.query(QUERY).start(folder / "checkpoint", sink=[parquet, *sinks], trigger={"availableNow": True})


def test_a_query_goes_on_in_other_numbers_of_shards(spark: SparkSession, tmp_path: Path) -> None:
    run(spark, tmp_path, 2, 200).wait_until_done()
    with pytest.raises(SinkError, match="no more"):
        run(spark, tmp_path, 2, 400, Failing(2)).wait_until_done()  # batch 2 is done in two shards, and not committed
    more = run(spark, tmp_path, 5, 400)
    more.wait_until_done()
    assert more.metrics().batch == 3
    assert {(s.stage, s.shard) for s in held(more.checkpoint)} == {(i, j) for i in range(2) for j in range(5)}
    one = run(spark, tmp_path, 1, ROWS)
    one.wait_until_done()
    assert one.layouts.history == (Layout(0, 2), Layout(2, 5), Layout(4, 1))
    assert difference(expected(ROWS), netted(changes_of(one))) == ""
    folders = {path.name for path in (tmp_path / "checkpoint" / "state").glob("stage-*/*")}
    assert folders == {"from-4-of-1"}
    never_stopped = run(spark, tmp_path / "never stopped", 2, ROWS)
    never_stopped.wait_until_done()
    assert netted(changes_of(one)) == netted(changes_of(never_stopped))
    assert (one.now, one.metrics().stored) == (never_stopped.now, never_stopped.metrics().stored)
