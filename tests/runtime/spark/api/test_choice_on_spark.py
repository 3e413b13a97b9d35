"""Would catch a query on Spark that goes on with another plan than its state is of, and estimates nobody can check."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.algebra.plan import MultiJoin
from thalweg.core.errors import CheckpointError, DataError
from thalweg.runtime.distributed.checkpoint.checksums import sealed_json
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.query_run import SparkQueryRun

QUERY = """
SELECT a.k, b.v AS bv, c.v AS cv FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR], c [RANGE 1 HOUR]
WHERE a.k = b.k AND b.k = c.k AND a.v < 5
"""
ONCE = {"availableNow": True}


def query(spark: SparkSession, folder: Path, values: float = 100_000.0, **rates: float) -> SparkQuery:
    engine = Engine(spark, shards=2)
    for name in ("a", "b", "c"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        frame = spark.readStream.schema("ts timestamp, k long, v long").json(str(folder / name))
        engine.stream(name, frame, rate=rates.get(name), distinct={"k": values})
    return engine.query(QUERY)


def write(folder: Path, file: str, numbers: range) -> None:
    for name in ("a", "b", "c"):
        rows = [{"ts": f"2026-01-01T00:00:{i % 60:02}Z", "k": i % 5, "v": i} for i in numbers]
        (folder / name).mkdir(exist_ok=True)
        (folder / name / file).write_text("\n".join(map(json.dumps, rows)))


def expected(numbers: range) -> Counter[tuple[int, int, int]]:
    found: Counter[tuple[int, int, int]] = Counter()
    for a in numbers:
        found.update((a % 5, b, c) for b in numbers for c in numbers if a < 5 and b % 5 == c % 5 == a % 5)
    return found


def digest(found: SparkQuery | SparkQueryRun) -> str:
    return str(found.explain(format="json")["choice"]["chosen"]["digest"])


def test_a_restart_keeps_the_plan_that_the_state_is_of(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "1.json", range(15))
    first = query(spark, tmp_path, a=1000.0, b=1000.0, c=0.01)
    first.start(tmp_path / "checkpoint", trigger=ONCE).wait_until_done()
    write(tmp_path, "2.json", range(15, 30))
    other = query(spark, tmp_path, a=0.01, b=1000.0, c=1000.0)
    chosen = digest(first)
    assert digest(other) != chosen
    run = other.start(tmp_path / "checkpoint", trigger=ONCE)
    run.wait_until_done()
    assert Counter((r.k, r.bv, r.cv) for r in run.answer().collect()) == expected(range(30))

    assert digest(run) == digest(other) == chosen, "what is run, not what would be chosen now"
    assert "seen" in run.explain(analyze=True) and "seen" not in run.explain()
    statistics = run.statistics()
    assert set(statistics.sources) == {"a", "b", "c"}
    assert statistics.sources["b"].rate == pytest.approx(
        30 / (run.instant() - 14_000_000 - 1_767_225_600_000_000), rel=0.01
    )
    again = query(spark, tmp_path)._request.choose(PinnedChoice(statistics=statistics)).optimized
    assert again is not None and again.statistics.sources["a"].origin == "measured"

    pinned = json.loads((tmp_path / "checkpoint" / "query.json").read_text())
    pinned["pinned_choice"]["runs"] = "0" * 64
    del pinned["checksum"]
    (tmp_path / "checkpoint" / "query.json").write_bytes(sealed_json(pinned))
    with pytest.raises(CheckpointError, match="another plan for the same query"):
        other.start(tmp_path / "checkpoint", trigger=ONCE)


def test_a_multi_way_join_runs_in_shards(spark: SparkSession, tmp_path: Path) -> None:
    """Many partners in the middle make intermediate results large, so that one operator is cheaper."""
    write(tmp_path, "1.json", range(20))
    found = query(spark, tmp_path, 50.0, a=1.0, b=1.0, c=1.0)
    plan = found._choice.blueprint.plan
    assert any(isinstance(node, MultiJoin) for node in plan.walk())
    assert "MultiJoin" in found.explain()
    run = found.start(tmp_path / "checkpoint", trigger=ONCE)
    run.wait_until_done()
    assert Counter((r.k, r.bv, r.cv) for r in run.answer().collect()) == expected(range(20))


def test_a_sample_gives_rates_and_values(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "1.json", range(60))
    engine = Engine(spark)
    frame = spark.readStream.schema("ts timestamp, k long, v long").json(str(tmp_path / "a"))
    engine.stream("a", frame)
    with pytest.raises(DataError, match="bounded DataFrame"):
        engine.sample("a")
    engine.sample("a", spark.read.schema("ts timestamp, k long, v long").json(str(tmp_path / "a")))
    engine.relation("r", spark.range(7).withColumnRenamed("id", "k"))
    engine.sample("r")
    text = engine.query("SELECT a.v FROM a [RANGE 1 MINUTE] JOIN r ON a.k = r.k").explain()
    assert "known    a: 1.02 rows per second" in text and "5 values of k" in text and "(sampled)" in text
    assert "known    r: 7 rows" in text
