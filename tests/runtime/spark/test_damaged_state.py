"""Would catch a query on Spark that goes on from a damaged state, or loses a batch when it goes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from faults.killing import difference
from faults.program import OPTIONS, QUERY, changes_of, expected, last_answer, netted, read_answer, sinks
from thalweg.core.errors import CheckpointError, CheckpointWarning
from thalweg.runtime.distributed.checkpoint.inspection import shards
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.sources.generator import generator

PER_BATCH = 100


def run(spark: SparkSession, folder: Path, rows: int) -> SparkQueryRun:
    """A join, then a GROUP BY, with a sink of files and one of a database."""
    engine = Engine(spark, shards=2)
    frame = generator(spark, "connections", rows=rows, rows_per_batch=PER_BATCH, partitions=2, **OPTIONS)
    engine.stream("connections", frame, ahead=None)
    made = engine.query(QUERY).start(folder / "checkpoint", sink=sinks(folder), trigger={"availableNow": True})
    made.wait_until_done()
    return made


def test_a_query_goes_back_by_a_batch_and_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    before = run(spark, tmp_path, 300)
    done = before.checkpoint.committed
    held = next(shard for shard in shards(before.checkpoint) if shard.stage == 1)
    manifest = held.folder / f"manifest-{done}.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"now": ', b'"now": 1'))
    with pytest.warns(CheckpointWarning, match=rf"{manifest.name} cannot be read.* Batch {done} is run again"):
        after = run(spark, tmp_path, 500)
    wanted = expected(500)
    assert difference(wanted, netted(changes_of(after))) == ""
    assert read_answer(tmp_path) == last_answer(wanted)
    for number in (done + 2, done + 1, done):
        for path in held.folder.glob(f"manifest-{number}.json"):
            path.unlink()
    with pytest.raises(CheckpointError, match=r"manifest-\d+\.json is missing; the query cannot go back"):
        run(spark, tmp_path, 600)
