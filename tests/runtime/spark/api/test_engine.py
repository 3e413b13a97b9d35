"""Would catch an engine on Spark that loses track of its queries, or a query that cannot answer for its run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from thalweg.core.errors import DataError, NameNotFoundError, PlanError
from thalweg.flows.query_info import QueryState
from thalweg.runtime.interface import RunMetrics
from thalweg.runtime.spark.api.engine import Engine


def engine_of(spark: SparkSession, folder: Path) -> Engine:
    (folder / "s").mkdir()
    engine = Engine(spark, shards=1)
    engine.stream("s", spark.readStream.schema("tick long, a long").json(str(folder / "s")), timestamp="tick")
    return engine


def test_a_query_answers_for_its_run(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_of(spark, tmp_path)
    q = engine.query("SELECT a FROM s [RANGE 5]", name="recent")
    assert (q.now, q.metrics(), engine.get_query("RECENT") is q) == (None, RunMetrics(), True)
    assert q.explain(analyze=True), "there are no measurements yet, which is no error"
    with pytest.raises(DataError, match="recent has not been started"):
        q.answer()
    run = q.start(tmp_path / "checkpoint")
    assert run.metrics().stored == 0, "before the first batch, or after one without rows"
    (tmp_path / "s" / "1.json").write_text('{"tick": 1, "a": 10}\n{"tick": 3, "a": 30}\n')
    assert run.wait(timeout=120)
    assert (q.now, run.now, q.metrics().now) == (3, 3, 3)
    assert sorted(tuple(row) for row in q.answer().collect()) == [(10,), (30,)]
    assert sorted(tuple(row) for row in q.answer(2).collect()) == [(10,)]
    assert q.metrics().operators[-1].positive_out == 2
    assert [(info.name, info.state) for info in engine.queries()] == [("recent", QueryState.RUNNING)]
    with pytest.raises(PlanError, match="a query called Recent already"):
        engine.query("SELECT a FROM s", name="Recent")
    engine.drop(q)
    assert (engine.queries(), q.is_active) == ([], False)
    with pytest.raises(NameNotFoundError, match="there is no query recent"):
        engine.get_query("recent")


def test_a_script_runs_over_declared_streams(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_of(spark, tmp_path)
    made = engine.execute(
        "CREATE VIEW big AS SELECT a FROM s WHERE a > 9; REGISTER QUERY n AS SELECT COUNT(*) FROM big"
    )
    assert [(q.name, q.info.state) for q in made] == [("n", QueryState.CREATED)]
    assert engine.query(engine.table("big")).name == "q2"
    with pytest.raises(PlanError, match="query creates t, but on Spark a stream or table is a DataFrame"):
        engine.execute("CREATE STREAM t (a INT); SELECT a FROM t")
    assert "t" not in engine.catalog
