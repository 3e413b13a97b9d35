"""Would catch a flow on Spark whose queries see too much or too little, or differ after a crash or a second start."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import thalweg as tw
from thalweg.core.errors import NameNotFoundError, PlanError, SinkError
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.flow import SparkFlow
from thalweg.runtime.spark.sinks import ParquetSink

ONCE = {"availableNow": True}
QUERIES = {
    "few": "SELECT k, v FROM s [RANGE 20 SECONDS] WHERE v > 20 AND k <> 3",
    "joined": "SELECT s.k, s.v, t.v AS w FROM s [RANGE 20 SECONDS] JOIN t [RANGE 30 SECONDS] ON s.k = t.k",
    "counted": "SELECT k, COUNT(*) AS n FROM s [RANGE 1 MINUTE] GROUP BY k",
    "all": "SELECT COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 10 SECONDS]",
    "last": "SELECT k, v FROM s [ROWS 5]",
    "known": "SELECT s.v, r.name FROM s [RANGE 20 SECONDS] JOIN r ON s.k = r.k",
}
NAMES = [(0, "zero"), (1, "one"), (4, "four")]


def engine(spark: SparkSession, folder: Path) -> Engine:
    made = Engine(spark, shards=2)
    for name in ("s", "t"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        made.stream(name, spark.readStream.schema("ts timestamp, k long, v long").json(str(folder / name)))
    made.relation("r", spark.createDataFrame(NAMES, "k long, name string"), key="k", retroactive=True)
    return made


def flow(spark: SparkSession, folder: Path, **options: Any) -> SparkFlow:
    keys = {"s": "k", "t": "k"}
    return engine(spark, folder).flow("desk", checkpoint=folder / "checkpoint", keys=keys, **options)


def rows(stream: str, numbers: range) -> list[tuple[str, int, int]]:
    return [(f"2026-01-01 00:00:{i:02}", i % 5, i + (stream == "t")) for i in numbers]


def write(folder: Path, file: str, numbers: range) -> None:
    for name in ("s", "t"):
        lines = [json.dumps({"ts": ts.replace(" ", "T") + "Z", "k": k, "v": v}) for ts, k, v in rows(name, numbers)]
        (folder / name / file).write_text("\n".join(lines))


def expected(cql: str, seen: range, end: int) -> Counter[tuple[Any, ...]]:
    """What the query running alone, over the tuples that it is to see, shows at the end."""
    session = tw.local()
    for name in ("s", "t"):
        session.execute(f"CREATE STREAM {name} (ts TIMESTAMP, k INT, v INT) TIMESTAMP BY ts")
    session.execute("CREATE RELATION r (k INT PRIMARY KEY, name STRING)")
    session.insert("r", NAMES)
    query = session.query(cql, strategy="reference")
    for name in ("s", "t"):
        session.push(name, rows(name, seen))
    session.advance(f"2026-01-01 00:00:{end:02}")
    return Counter(query.answer())


def shown(found: DataFrame) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in found.collect())


class FailingOnce:
    """A sink that fails in a batch: its shards have done their steps, and it is to be run again."""

    def __init__(self, batch: int) -> None:
        self._batch = batch

    def write(self, changes: DataFrame, batch: int) -> None:
        if batch == self._batch:
            raise OSError("no more")


def test_queries_come_and_go_and_each_has_its_own_answer(spark: SparkSession, tmp_path: Path) -> None:
    desk = flow(spark, tmp_path)
    ids = {name: desk.add(QUERIES[name], name=name) for name in ("few", "joined", "all")}
    desk.start(trigger=ONCE).wait_until_done()  # a batch of commands alone
    write(tmp_path, "1.json", range(20))
    desk.start(trigger=ONCE).wait_until_done()
    for name, query in ids.items():
        assert shown(desk.answer(query)) == expected(QUERIES[name], range(20), 19), name

    late = {name: desk.add(QUERIES[name], name=name, owner="me") for name in ("counted", "last", "known")}
    filled = desk.add(QUERIES["few"], backfill=True)
    desk.drop("joined")
    assert {q.name: q.state for q in desk.queries()}["counted"] == "waiting"
    with pytest.raises(
        SinkError, match="FailingOnce could not write batch 2 at the first attempt; the last error: OSError: no more"
    ):
        desk.start(sink=[ParquetSink(desk.checkpoint.answers), FailingOnce(2)], trigger=ONCE).wait_until_done()
    assert (desk.checkpoint.answers / "_checkpoint").exists(), "the sink was opened, so the folder is the checkpoint's"
    again = flow(spark, tmp_path)  # as another process would
    again.start(trigger=ONCE).wait_until_done()
    write(tmp_path, "2.json", range(20, 45))
    run = again.start(trigger=ONCE)
    run.wait_until_done()
    for name in ("few", "all"):
        assert shown(again.answer(ids[name])) == expected(QUERIES[name], range(45), 44), name
    for name in late:
        assert shown(again.answer(name)) == expected(QUERIES[name], range(20, 45), 44), name
    assert shown(again.answer(filled)) == expected(QUERIES["few"], range(45), 44)
    assert {q.name for q in again.queries()} == {"few", "all", "counted", "last", "known", filled}
    assert {q.name for q in again.queries() if q.sees_all} == {"all", "last"}
    assert all(q.state == "running" for q in again.queries())
    with pytest.raises(NameNotFoundError, match="there is no query"):
        again.answer(ids["joined"])


def test_a_query_that_fails_is_suspended_everywhere(spark: SparkSession, tmp_path: Path) -> None:
    made = engine(spark, tmp_path)

    @tw.function(returns=bool, takes=int)  # no module has it, as none has what is defined in a notebook
    def lucky(n: int) -> bool:
        if n == 13:
            raise ValueError("no")
        return True

    made.register(lucky)
    desk = made.flow("desk", checkpoint=tmp_path / "checkpoint", keys={"s": "k", "t": "k"})
    risky, few = desk.add("SELECT k FROM s [RANGE 1 HOUR] WHERE lucky(v)"), desk.add(QUERIES["few"])
    desk.start(trigger=ONCE).wait_until_done()
    write(tmp_path, "1.json", range(20))
    desk.start(trigger=ONCE).wait_until_done()
    write(tmp_path, "2.json", range(20, 45))
    for _ in range(2):
        desk.start(trigger=ONCE).wait_until_done()
    states = {q.id: (q.state, q.reason) for q in desk.queries()}
    assert states[few] == ("running", None)
    assert states[risky][0] == "suspended" and "LUCKY raised ValueError for (13)" in str(states[risky][1])
    assert shown(desk.answer(few)) == expected(QUERIES["few"], range(45), 44)
    desk.drop(risky)
    assert [q.id for q in desk.queries()] == [few]


def test_what_a_flow_does_not_do_is_said(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="the flow desk needs a folder"):
        engine(spark, tmp_path).flow("desk")
    desk = flow(spark, tmp_path, streams=["s"], tables=[], sees_all=False)
    with pytest.raises(PlanError, match="does not read t"):
        desk.add(QUERIES["joined"])
    with pytest.raises(PlanError, match="must see all its tuples in one place"):
        desk.add(QUERIES["all"])
    with pytest.raises(PlanError, match="does not run"):
        desk.answer(desk.add(QUERIES["few"]))
    with pytest.raises(NameNotFoundError, match="there is no query q9"):
        desk.drop("q9")
    first = desk.add(QUERIES["few"], name="few")
    with pytest.raises(PlanError, match=f"there is a query called few already: {first}"):
        desk.add(QUERIES["few"], name="few")
