"""Would catch a copied table that is missing in a group, there twice after a restart, or chosen anew."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery

QUERY = "SELECT s.a, COUNT(*) AS n FROM s [RANGE 1 HOUR] JOIN t ON s.b = t.b GROUP BY s.a"
COPY = "in: t by a copy for every group"


def query(spark: SparkSession, folder: Path, shards: int = 2, broadcast: bool | None = None) -> SparkQuery:
    (folder / "s").mkdir(parents=True, exist_ok=True)
    engine = Engine(spark, shards=shards)
    engine.stream("s", spark.readStream.schema("ts timestamp, a long, b long").json(str(folder / "s")))
    table = spark.createDataFrame(pa.table({"b": [0, 1, 1, 2]}))
    engine.relation("t", table, retroactive=True, broadcast=broadcast)
    return engine.query(QUERY)


def write(folder: Path, name: str, numbers: range) -> None:
    lines = [f'{{"ts": "2026-01-01T00:00:{i % 60:02}Z", "a": {i % 7}, "b": {i % 4}}}' for i in numbers]
    (folder / "s" / name).write_text("\n".join(lines))


def expected(numbers: range) -> Counter[tuple[int, int]]:
    found: Counter[int] = Counter()
    for i in numbers:
        found[i % 7] += {0: 1, 1: 2, 2: 1}.get(i % 4, 0)
    return Counter((a, n) for a, n in found.items())


def test_a_small_table_is_copied_and_the_stream_exchanged_once(spark: SparkSession, tmp_path: Path) -> None:
    asked = query(spark, tmp_path)
    assert COPY in asked.explain()
    assert len(asked.explain(format="json")["stages"]) == 1
    kept = query(spark, tmp_path, broadcast=False)
    assert COPY not in kept.explain()
    assert len(kept.explain(format="json")["stages"]) == 2

    write(tmp_path, "1.json", range(40))
    asked.start(tmp_path / "checkpoint", trigger={"availableNow": True}).wait_until_done()
    write(tmp_path, "2.json", range(40, 59))
    again = query(spark, tmp_path, shards=5, broadcast=False)  # the choice of the first start is pinned
    run = again.start(tmp_path / "checkpoint", trigger={"availableNow": True})
    run.wait_until_done()
    assert run.checkpoint.query_file.pinned_choice.broadcast == {"t"}
    assert Counter((row.a, row.n) for row in run.answer().collect()) == expected(range(59))


def test_sparks_own_limit_decides(spark: SparkSession, tmp_path: Path) -> None:
    unknown = spark.sparkContext.parallelize([(0,), (1,)]).toDF(["b"])  # whose size Spark does not know
    engine = Engine(spark)
    (tmp_path / "s").mkdir()
    engine.stream("s", spark.readStream.schema("ts timestamp, a long, b long").json(str(tmp_path / "s")))
    engine.relation("t", unknown, retroactive=True)
    before = spark.conf.get("spark.sql.autoBroadcastJoinThreshold")
    try:
        assert COPY in engine.query(QUERY).explain()
        for limit in ("-1", "30"):
            spark.conf.set("spark.sql.autoBroadcastJoinThreshold", limit)
            assert COPY not in engine.query(QUERY).explain()
    finally:
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", before or "10MB")


def test_a_checkpoint_is_a_path(tmp_path: Path) -> None:
    assert Checkpoint.at(f"file://{tmp_path}").folder == Checkpoint.at(tmp_path).folder == tmp_path
    with pytest.raises(CheckpointError, match="not s3://bucket/q") as caught:
        Checkpoint.at("s3://bucket/q")
    assert "mount the storage" in str(caught.value)
