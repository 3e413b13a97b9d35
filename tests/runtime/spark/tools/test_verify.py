"""Would catch a verification that finds right answers wrong, or, worse, wrong ones right."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.core.errors import DataError, PlanError
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.sources import generator
from thalweg.runtime.spark.tools.verify import Verifier

QUERIES = (
    "SELECT c.src, f.name, COUNT(*) AS n, SUM(c.duration) AS d FROM c [RANGE 8 SECONDS SLIDE 2 SECONDS], f "
    "WHERE c.protocol = f.protocol AND c.bytes > 100 GROUP BY c.src, f.name",
    "SELECT src, ts FROM c [PARTITION BY protocol ROWS 3] EXCEPT ALL SELECT dst, ts FROM c [ROWS 5]",
)


def engine_of(spark: SparkSession) -> Engine:
    engine = Engine(spark, shards=2)
    engine.stream("c", generator(spark, "connections", rate=40, rows=800, rows_per_batch=500, hosts=20), ahead=None)
    names = spark.createDataFrame([("smtp", "mail"), ("ftp", "files"), ("nntp", None)], "protocol string, name string")
    engine.relation("f", names, key="protocol", retroactive=True)
    return engine


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_right_answers_are_equal_and_wrong_ones_are_not(spark: SparkSession, tmp_path: Path, number: int) -> None:
    query = engine_of(spark).query(QUERIES[number])
    run = query.start(tmp_path / "checkpoint", trigger={"availableNow": True})
    assert run.wait_until_done(120)
    verifier = Verifier(query, tmp_path / "verify")
    first = run.latest
    assert isinstance(first, datetime)
    for at in (None, first - timedelta(seconds=11.5)):
        verdict = verifier.verify(run, at)
        assert (verdict.equal, verdict.missing, verdict.extra) == (True, [], [])
        assert verdict.rows > 0
    if number == 0:
        one = run.answer().limit(1).collect()[0]
        folder = str(run.checkpoint.answers / f"batch={run.checkpoint.committed}")
        schema = spark.read.parquet(folder).schema
        spark.createDataFrame([(*one, None, None, 1)], schema).write.mode("append").parquet(folder)
        verdict = verifier.verify(run)
        assert (verdict.equal, verdict.missing, verdict.extra) == (False, [], [tuple(one)])


def test_what_cannot_be_verified_says_why(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_of(spark)
    query = engine.query("ISTREAM(SELECT src FROM c [RANGE 1 SECOND])")
    run = query.start(tmp_path / "checkpoint", trigger={"availableNow": True})
    with pytest.raises(DataError, match="has not done a batch yet"):
        Verifier(query, tmp_path / "verify").verify(run)
    assert run.wait_until_done(120)
    with pytest.raises(PlanError, match="ISTREAM has no one-time form"):
        Verifier(query, tmp_path / "verify").verify(run)
