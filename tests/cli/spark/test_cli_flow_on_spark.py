"""`thalweg flow` on a checkpoint: would catch commands that a flow on Spark does not hear of, or misreports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import thalweg as tw
from cli.run import lines, refusal
from cli.spark.test_cli_spark import start
from runtime.spark.api.test_flows_on_spark import ONCE, QUERIES, engine, expected, flow, shown, write
from thalweg.core.errors import CheckpointError

COUNTED = "SELECT k, COUNT(*) AS n FROM s [RANGE 1 MINUTE] GROUP BY k"


def top_queries(checkpoint: Path) -> dict[str, dict[str, Any]]:
    (top,) = map(json.loads, lines("flow", "top", checkpoint, "--json"))
    return {query["name"]: query for query in top["queries"]}


def test_queries_are_handed_in_at_the_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    desk, checkpoint = flow(spark, tmp_path), tmp_path / "checkpoint"
    assert lines("flow", "add", checkpoint, QUERIES["few"], "--name", "few", "--owner", "ann") == ["q1"]
    assert "has no metrics yet" in refusal("flow", "top", checkpoint)
    write(tmp_path, "1.json", range(20))
    desk.start(trigger=ONCE).wait_until_done()  # the query was there before the first tuples
    assert lines("flow", "add", checkpoint, COUNTED, "--name", "counted", "--results", "90") == ["q2"]
    assert {name: (q["state"], q["seen"]) for name, q in top_queries(checkpoint).items()} == {
        "few": ("running", 20), "counted": ("waiting", 0),
    }  # fmt: skip
    for _ in range(2):
        desk.start(trigger=ONCE).wait_until_done()
        write(tmp_path, "2.json", range(20, 45))
    assert shown(desk.answer("few")) == expected(QUERIES["few"], range(45), 44)
    assert shown(desk.answer("counted")) == expected(COUNTED, range(20, 45), 44)

    assert [line.split()[:2] for line in lines("flow", "list", checkpoint)] == [
        ["id", "name"],
        ["q1", "few"],
        ["q2", "counted"],
    ]
    about = json.loads(lines("flow", "show", checkpoint, "counted", "--json")[0])
    assert (about["id"], about["quotas"]) == ("q2", {"results": 90})
    assert (about["metrics"]["state"], about["metrics"]["seen"]) == ("running", 25)
    assert lines("flow", "top", checkpoint)[0].startswith("2 queries at 2026-01-01 00:00:44; ")
    assert lines("flow", "drop", checkpoint, "few") == ["q1"]
    assert [query.id for query in desk.queries()] == ["q2"]


def test_what_does_not_fit_is_said_at_the_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    made, checkpoint = engine(spark, tmp_path), tmp_path / "checkpoint"

    @tw.function(returns=bool, takes=int)  # no module has it
    def odd(n: int) -> bool:
        return n % 2 == 1

    made.register(odd)
    options: dict[str, Any] = {"streams": ["s"], "tables": [], "keys": {"s": "k"}, "sees_all": False}
    desk = made.flow("desk", checkpoint=checkpoint, **options)
    assert lines("flow", "add", checkpoint, "SELECT k FROM s WHERE odd(v)", "--name", "odd") == ["q1"]
    assert "does not read t" in refusal("flow", "add", checkpoint, QUERIES["joined"])
    assert "must see all its tuples in one place" in refusal("flow", "add", checkpoint, QUERIES["all"])
    assert "there is a query called Odd already: q1" in refusal(
        "flow", "add", checkpoint, "SELECT k FROM s", "--name", "Odd"
    )
    assert "there is no query q9" in refusal("flow", "drop", checkpoint, "q9")
    assert "is the checkpoint of a flow on Spark" in refusal("flow", "start", checkpoint, tmp_path / "x.cql")
    write(tmp_path, "1.json", range(7))
    desk.start(trigger=ONCE).wait_until_done()
    assert sorted(shown(desk.answer("odd")).elements()) == [(0,), (1,), (3,)]
    again = engine(spark, tmp_path).flow("desk", checkpoint=checkpoint, **options)
    with pytest.raises(CheckpointError, match=r"odd \(q1\) of the flow desk calls ODD, which is not registered"):
        again.start(trigger=ONCE)


def test_a_flow_is_started_on_spark_with_the_queries_of_its_catalogue(tmp_path: Path) -> None:
    (tmp_path / "streams.cql").write_text("CREATE STREAM s (ts TIMESTAMP, k INT, v INT) TIMESTAMP BY ts")
    (tmp_path / "s").mkdir()
    (tmp_path / "t").mkdir()
    write(tmp_path, "1.json", range(45))
    desk = tmp_path / "desk"
    lines("flow", "add", desk, "SELECT v FROM s", "--name", "gone")
    lines("flow", "add", desk, QUERIES["few"], "--name", "few", "--owner", "ann")
    lines("flow", "drop", desk, "gone")
    source = f"s=json:{tmp_path / 's'}"
    run = start("flow", "start", desk, tmp_path / "streams.cql", "--source", source, "--key", "s=k", "--until-done")
    _, errors = run.communicate(timeout=240)
    assert run.returncode == 0, errors
    (few,) = top_queries(desk).values()
    wanted = sum(i > 20 and i % 5 != 3 for i in range(45))
    assert (few["id"], few["owner"], few["state"], few["seen"], few["results"]) == ("q2", "ann", "running", 45, wanted)
