"""Would catch rows that are answered where they are read and lost, emitted twice, or not counted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from thalweg.algebra.catalog import Catalog, Stream
from thalweg.core.errors import CheckpointError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.cql import compile_query
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources import parquet
from thalweg.runtime.spark.tasks.stateless import is_stateless

ROWS = Schema.of(tick=DataType.BIGINT, k=DataType.BIGINT, note=DataType.STRING, other=DataType.DOUBLE)
QUERY = "SELECT k * 10 AS k, note FROM s [RANGE 7] WHERE k <> 3"
SHARDS_ONLY = "thalweg.runtime.spark.compile.query_frame.is_stateless"
ONCE = {"availableNow": True}


def write(folder: Path, number: int, first: int) -> None:
    """Two rows a tick, one of them too late from the second file on, and one without a time."""
    folder.mkdir(exist_ok=True)
    ticks: list[int | None] = [first + i // 2 for i in range(20)]
    ticks[5], ticks[7] = 1, None
    notes = [None if i == 4 else f"{number}.{i % 3}" for i in range(20)]
    columns = {"tick": ticks, "k": [i % 5 for i in range(20)], "note": notes, "other": [i / 2 for i in range(20)]}
    path = folder / f"{number}.parquet"
    pq.write_table(pa.table(columns), path)
    os.utime(path, (number, number))


def query(spark: SparkSession, folder: Path, described: bool, lateness: int | None = None) -> SparkQuery:
    engine = Engine(spark, shards=2)
    by_spark = spark.readStream.schema(to_spark(ROWS)).option("maxFilesPerTrigger", 1).parquet(str(folder))
    ours = parquet(spark, folder, ROWS, files_per_batch=1)
    engine.stream("s", ours if described else by_spark, timestamp="tick", lateness=lateness)
    return engine.query(QUERY)


def outcome(found: SparkQuery, checkpoint: Path) -> dict[str, Any]:
    run = found.start(checkpoint, trigger=ONCE)
    run.wait_until_done()
    metrics = replace(run.metrics(), rows_per_second=None, operators=())
    return {
        "changes": sorted(map(str, run.changes().collect())),
        "answer": sorted(map(str, run.answer().collect())),
        "late": sorted(map(str, run.late("s"))),
        "bad": sorted(map(str, run.bad_rows("s"))),
        "statistics": run.statistics(),
        "metrics": metrics,
    }


@pytest.mark.parametrize("described", [True, False], ids=["loaded by us", "read by Spark"])
def test_rows_answered_at_once_are_as_those_that_pass_through_shards(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, described: bool
) -> None:
    for number in range(3):
        write(tmp_path / "in", number, 100 + 10 * number)
    found = query(spark, tmp_path / "in", described)
    assert "done by the tasks that read" in found.explain()
    at_once = outcome(found, tmp_path / "at-once")
    assert [(len(at_once["late"]), len(at_once["bad"]))] == [(2, 3)]
    assert len(at_once["changes"]) > 40
    monkeypatch.setattr(SHARDS_ONLY, lambda *query: False)
    assert outcome(query(spark, tmp_path / "in", described), tmp_path / "in-shards") == at_once


def test_a_query_over_a_stream_that_waits_longer_is_another(spark: SparkSession, tmp_path: Path) -> None:
    """So no row that waits is ever passed by those that are answered at once."""
    write(tmp_path / "in", 0, 100)
    assert outcome(query(spark, tmp_path / "in", True, lateness=5), tmp_path / "checkpoint")["metrics"].waiting > 0
    with pytest.raises(CheckpointError, match="declared otherwise"):
        query(spark, tmp_path / "in", True).start(tmp_path / "checkpoint", trigger=ONCE)


CATALOG = Catalog()
for name in ("s", "t"):
    CATALOG.add(Stream(name, Schema.of(k=DataType.BIGINT, v=DataType.BIGINT)))


@pytest.mark.parametrize(
    ("cql", "lateness", "strategy", "can"),
    [
        ("SELECT k FROM s", 0, Strategy.AUTO, True),
        ("SELECT k + v AS n FROM s [RANGE 9] WHERE k > 3", 0, Strategy.AUTO, True),
        ("SELECT k FROM s [NOW] UNION ALL SELECT v AS k FROM s", 0, Strategy.AUTO, True),
        ("SELECT k FROM s [RANGE 9]", 5, Strategy.AUTO, False),
        ("SELECT k FROM s [RANGE 9]", 0, Strategy.NT, False),
        ("SELECT k FROM s [RANGE 9 SLIDE 3]", 0, Strategy.AUTO, False),
        ("SELECT k FROM s [ROWS 9]", 0, Strategy.AUTO, False),
        ("SELECT DISTINCT k FROM s [RANGE 9]", 0, Strategy.AUTO, False),
        ("SELECT k FROM s [NOW] UNION ALL SELECT k FROM t", 0, Strategy.AUTO, False),
        ("ISTREAM(SELECT k FROM s [RANGE 9])", 0, Strategy.AUTO, False),
    ],
)
def test_only_what_remembers_nothing_and_waits_for_nothing(
    cql: str, lateness: int, strategy: Strategy, can: bool
) -> None:
    blueprint = Blueprint(compile_query(cql, CATALOG), strategy)
    pipeline = blueprint.build()
    inputs = {node.source: InputTime(lateness) for node in pipeline.nodes if node.operator is None}
    assert is_stateless(blueprint, cut(pipeline), inputs) is can
