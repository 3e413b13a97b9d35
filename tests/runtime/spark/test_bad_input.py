"""Would catch rows that vanish without a trace, and checkpoints that are gone on from though they should not be.

Whatever comes in: rows in = rows answered + late + bad. And a query that cannot go on says why in a few lines.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from thalweg.core.errors import (
    CheckpointError,
    CheckpointWarning,
    DataError,
    NameNotFoundError,
    PlanError,
    ThalwegError,
    TooManyResultsError,
    TypeMismatchError,
)
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.kernel.pipeline import Settings
from thalweg.runtime.distributed.checkpoint import manifest as manifest_format
from thalweg.runtime.distributed.checkpoint import query_file
from thalweg.runtime.distributed.checkpoint.checksums import sealed_json
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.sources.spark_readers import directory

TICKS = "tick long, k string"
COUNT = "SELECT COUNT(*) AS n FROM s"
STAMPED = Schema((Field("ts", DataType.TIMESTAMP), Field("k", DataType.STRING), Field("v", DataType.BIGINT)))


@pytest.fixture(autouse=True)
def stopped(spark: SparkSession) -> Iterator[None]:
    """A test that fails leaves no query running."""
    yield
    for query in spark.streams.active:
        query.stop()


def put(folder: Path, name: str, *lines: str | dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / f".{name}").write_text(text, encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def answered(run: SparkQueryRun) -> int:
    return int(run.answer().collect()[0][0])


def reasons(run: SparkQueryRun, source: str) -> list[str]:
    return sorted(row["_reason"] for row in run.bad_rows(source))


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_every_row_is_answered_late_or_bad(format_: str, spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    day = "2026-01-01 00:00:"
    far = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + 3 * 86_400))
    rows: list[tuple[Any, ...]] = [
        (day + "10", "a", 1),
        (day + "09", "b", 2),  # out of order, within the lateness
        (None, "no time", 3),
        (far, "from the future", 4),
        (day + "10", "wrong type", "ten"),
        ("yesterday", "no timestamp", 5),
    ]
    if format_ == "json":
        lines = [json.dumps(dict(zip(("ts", "k", "v"), row, strict=True))) for row in rows] + ['{"ts": broken']
    else:
        lines = ["ts,k,v", *(",".join("" if v is None else str(v) for v in row) for row in rows), "1,2,3,4,5"]
    put(folder, f"1.{format_}", *lines)
    engine = Engine(spark, shards=2)
    engine.stream("s", directory(spark, folder, STAMPED, format_), lateness="2 seconds")
    run = engine.query("SELECT COUNT(*) AS n, MAX(k) AS k, SUM(v) AS v FROM s").start(tmp_path / "checkpoint")
    run.wait()
    one = [json.dumps({"ts": day + "01", "k": "late", "v": 6})] if format_ == "json" else ["ts,k,v", day + "01,late,6"]
    put(folder, f"2.{format_}", *one)
    run.drain()
    run.wait()
    bad, late = run.bad_rows("s"), run.late("s")
    assert [row["k"] for row in late] == ["late"]
    assert [row["_reason"] for row in bad if row["k"] == "no time"] == ["no timestamp"]
    assert ["ahead" in row["_reason"] for row in bad if row["k"] == "from the future"] == [True]
    texts = sorted(row["_text"] for row in bad if row["_text"] is not None)
    assert len(texts) == 3 and any("ten" in text for text in texts) and any("yesterday" in text for text in texts)
    assert answered(run) == 2
    assert answered(run) + len(late) + len(bad) == len(rows) + 2
    assert (run.metrics().late, run.metrics().bad_rows) == ({"s": len(late)}, {"s": len(bad)})
    assert run.metrics().waiting == 0
    run.stop()


def test_updates_that_a_table_cannot_apply_are_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path / "r",
        "1.json",
        {"k": 1, "v": "one", "_at": 1},
        {"k": 2, "_op": "-", "_at": 1},
        {"k": 3, "_op": "delete"},
    )
    put(tmp_path / "s", "1.json", {"tick": 2, "k": 1}, {"tick": 1 << 61, "k": 1})
    engine = Engine(spark, shards=2)
    engine.stream("s", spark.readStream.schema("tick long, k long").json(str(tmp_path / "s")), timestamp="tick")
    frame = spark.readStream.schema("k long, v string, _op string, _at long").json(str(tmp_path / "r"))
    engine.relation("r", frame, key="k", retroactive=True)
    run = engine.query("SELECT r.v, COUNT(*) AS n FROM s JOIN r ON s.k = r.k GROUP BY r.v").start(
        tmp_path / "checkpoint"
    )
    run.wait()
    assert [tuple(row) for row in run.answer(2).collect()] == [("one", 1)]
    assert reasons(run, "r") == ["an _op that is neither + nor -", "the table has no such row to take away"]
    assert reasons(run, "s") == ["a time that no tuple can have"]
    put(tmp_path / "r", "2.json", {"k": 1, "v": "uno", "_at": 3}, {"k": 1, "_op": "-", "_at": 5})
    run.wait()
    run.advance(5)
    run.wait()
    assert [tuple(row) for row in run.answer(3).collect()] == [("uno", 1)]
    assert run.answer(5).collect() == []
    run.stop()


def test_an_empty_source_is_waited_for_and_can_be_drained(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "s", "1.json", {"tick": 1, "k": "a"}, {"tick": 2, "k": "b"})
    (tmp_path / "empty").mkdir()
    engine = Engine(spark, shards=2)
    for name in ("s", "empty"):
        engine.stream(name, spark.readStream.schema(TICKS).json(str(tmp_path / name)), timestamp="tick")
    query = engine.query("SELECT k FROM s UNION ALL SELECT k FROM empty")
    run = query.start(tmp_path / "checkpoint")
    run.wait()
    assert run.metrics().waiting == 2
    with pytest.raises(DataError, match="is not known yet"):
        run.answer(2)
    run.drain()
    run.wait()
    assert (run.answer().count(), run.metrics().waiting) == (2, 0)
    run.stop()


def test_what_cannot_be_is_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.readStream.schema("tick long, k string, m map<string,int>").json(str(tmp_path))
    engine = Engine(spark)
    with pytest.raises(NameNotFoundError, match="s has no column ts"):
        engine.stream("s", frame.drop("m"))
    with pytest.raises(TypeMismatchError, match="the time of s is to come from k, which is STRING"):
        engine.stream("s", frame.drop("m"), timestamp="k")
    with pytest.raises(TypeMismatchError, match="column m has Spark's type map"):
        engine.stream("s", frame, timestamp="tick")
    with pytest.raises(DataError, match="s must be a streaming DataFrame"):
        engine.stream("s", spark.range(1).withColumnRenamed("id", "ts"))
    twice = spark.range(4).select((sf.col("id") % 2).alias("k"), sf.col("id"))
    engine.stream("s", frame.drop("m"), timestamp="tick")
    engine.relation("r", twice, key="k", retroactive=True)
    with pytest.raises(PlanError, match="reads no stream"):
        engine.query("SELECT id FROM r")
    with pytest.raises(DataError, match="r has 2 rows with the key"):
        engine.query("SELECT r.id FROM s JOIN r ON s.k = CAST(r.k AS STRING)").start(tmp_path / "c")


def test_a_checkpoint_that_does_not_fit_is_refused_in_a_few_lines(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    put(tmp_path / "s", "1.json", {"tick": 1, "k": "a"})
    engine = Engine(spark, shards=2)
    engine.stream("s", spark.readStream.schema(TICKS).json(str(tmp_path / "s")), timestamp="tick")
    query = engine.query(COUNT)
    run = query.start(checkpoint)
    run.wait()
    run.stop()
    with pytest.raises(CheckpointError, match="is the checkpoint of another query"):
        engine.query("SELECT k FROM s").start(checkpoint)
    with pytest.raises(CheckpointError, match="spread over 8 groups, so it cannot run in 9 shards"):
        engine.query(COUNT, shards=9).start(checkpoint)
    with pytest.raises(CheckpointError, match="spreads keys over 8 groups, but groups=16 was asked for"):
        engine.query(COUNT, groups=16).start(checkpoint)
    with pytest.raises(PlanError, match="cannot be spread over 2 groups in 3 shards"):
        engine.query(COUNT, shards=3, groups=2).start(tmp_path / "another")
    assert not (tmp_path / "another" / "query.json").exists()
    about = checkpoint / "query.json"
    whole = about.read_bytes()
    about.write_bytes(whole.replace(f'"version": {query_file.VERSION}'.encode(), b'"version": 5'))
    with pytest.raises(CheckpointError, match="its checksum must be"):
        query.start(checkpoint)
    tree = json.loads(whole)
    about.write_bytes(sealed_json({**{key: tree[key] for key in tree if key != "checksum"}, "version": 7}))
    with pytest.raises(CheckpointError, match="has format 7"):
        query.start(checkpoint)
    about.write_bytes(whole)
    shard = checkpoint / "state" / "stage-0" / "from-0-of-2" / "shard-0"
    manifest = shard / "manifest-0.json"
    kept = manifest.read_text()
    for damaged, message in (
        (None, "the state after batch 0 is not there"),
        (kept.replace(f'"version": {manifest_format.VERSION}', '"version": 7'), "manifest-0.json"),
        (kept[: len(kept) // 2], "cannot be read"),
    ):
        manifest.unlink(missing_ok=True)
        if damaged is not None:
            manifest.write_text(damaged)
        goes_back(query, checkpoint, message)
    for file in shard.glob("runs-*.arrow"):
        file.unlink()
    goes_back(query, checkpoint, "is missing")
    put(tmp_path / "s", "more-1.json", {"tick": 1, "k": "b"})
    run = query.start(checkpoint)  # the state is whole again, so it goes on
    run.wait()
    assert answered(run) == 1 + len(list((tmp_path / "s").glob("more-*.json")))
    run.stop()


def goes_back(query: SparkQuery, checkpoint: Path, message: str) -> None:
    """The state after the only batch is damaged, so a start says which file it is, and runs the batch again."""
    with pytest.warns(CheckpointWarning, match=message) as caught:
        run = query.start(checkpoint)
    assert "Batch 0 is run again" in str(caught[0].message)
    run.wait()
    assert answered(run) == 1
    run.stop()


def test_a_csv_file_without_a_column_stops_the_query_with_a_reason(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "s", "1.csv", "ts,k", "2026-01-01 00:00:00,a")
    engine = Engine(spark, shards=1)
    engine.stream("s", directory(spark, tmp_path / "s", STAMPED, "csv"))
    run = engine.query(COUNT).start(tmp_path / "checkpoint")
    with pytest.raises(ThalwegError, match=r"the header of 1\.csv names the columns ts, k") as caught:
        run.wait()
    assert len(str(caught.value).splitlines()) <= 5


def test_a_join_with_too_many_results_stops_the_query_with_its_hottest_key(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "s", "1.json", *[{"tick": 1, "k": "hot"}] * 20, {"tick": 1, "k": "cold"})
    engine = Engine(spark, shards=1)
    engine.stream("s", spark.readStream.schema(TICKS).json(str(tmp_path / "s")), timestamp="tick")
    asked = engine.query(
        "SELECT a.k FROM s [RANGE 5] AS a JOIN s [RANGE 5] AS b ON a.k = b.k", settings=Settings(most_results=399)
    )
    run = asked.start(tmp_path / "checkpoint")
    hottest = r"400 pairs .* hottest key \(a\.k = 'hot'\), which 20 tuples"
    with pytest.raises(TooManyResultsError, match=hottest) as caught:
        run.wait()
    assert len(str(caught.value).splitlines()) <= 5
    assert "smaller batches" in str(caught.value)
