"""Would catch sinks that disagree with the answer, lose an end when only time passes, or count a batch twice."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from runtime.spark.session import environment
from runtime.spark.sinks.crashing_sink import DEATH, query, sinks
from runtime.spark.sinks.databases import bag, select, start_postgres
from thalweg.core.errors import CheckpointError, DataError
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.sinks import ConsoleSink, ParquetSink, Sink, TableSink, sqlite


def put(folder: Path, name: str, *rows: tuple[int, str]) -> None:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / f"{name}.json").write_text("".join(f'{{"ts": {ts}, "k": "{k}"}}\n' for ts, k in rows))


def answer(run: SparkQueryRun) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in run.answer().collect())


def test_all_sinks_hold_the_same_answer(spark: SparkSession, tmp_path: Path) -> None:
    server, postgres = start_postgres(tmp_path / "postgres")
    shown = io.StringIO()
    tables = [TableSink(sqlite(tmp_path / "answers.db"), "answer"), TableSink(postgres, "public.answer")]
    every: list[Sink] = [ParquetSink(tmp_path / "changes"), *tables, ConsoleSink(Console(file=shown))]
    put(tmp_path, "0", (1, "a"), (2, "b"), (2, "b"))
    q = query(spark, tmp_path)

    def check(run: SparkQueryRun, *rows: str) -> None:
        run.wait()
        wanted = Counter((row,) for row in rows)
        assert [answer(run), *(bag(table.answer()) for table in tables)] == [wanted] * 3

    run = q.start(tmp_path / "checkpoint", sink=every)
    check(run, "a", "b", "b")
    run.advance(6)
    check(run, "b", "b")
    run.stop()
    put(tmp_path, "1", (7, "c"))
    run = q.start(tmp_path / "checkpoint", sink=every)
    check(run, "c")
    run.stop()
    assert select(postgres, "SELECT batch, clock FROM answer__batch") == [(2, 7)]
    assert {folder.name for folder in (tmp_path / "changes").iterdir()} == {
        "_checkpoint",
        *(f"batch={i}" for i in range(3)),
    }
    pictures = [" ".join(picture.split()) for picture in shown.getvalue().split("at ")[1:]]
    assert [picture.split()[0] for picture in pictures] == ["2", "6", "7"]
    assert [picture.endswith(end) for picture, end in zip(pictures, ("a 1 b 2", "b 2", "+ c"), strict=True)] == [
        True
    ] * 3
    for sink, complaint in (
        (tables[0], "kept by a query with another"),
        (every[0], "of a query with another checkpoint"),
    ):
        run = q.start(tmp_path / f"another {complaint}", sink=sink)
        with pytest.raises(Exception, match=complaint):
            run.wait()
    run = q.start(tmp_path / "checkpoint", sink=[ParquetSink(tmp_path / "more"), tables[0]])
    put(tmp_path, "2", (8, "c"))
    run.wait()
    with pytest.raises(CheckpointError, match="holds 1 of the 4 batches"):
        run.answer()
    run.stop()
    run = q.start(tmp_path / "checkpoint", sink=tables[0])
    with pytest.raises(DataError, match="go only to the sinks that it was given, so answers cannot be read here"):
        run.answer()
    run.stop()
    server.cleanup()


def run_until_death(folder: Path) -> None:
    """The process ends itself; its Java, which would linger, is ended with it."""
    command = [sys.executable, "-m", "runtime.spark.sinks.crashing_sink", str(folder)]
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log, start_new_session=True)
        code = process.wait(timeout=120)
        os.killpg(process.pid, signal.SIGKILL)
        assert code == DEATH, (folder / "log").read_text()


def test_a_process_that_dies_between_two_commits(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "0", (1, "a"))
    run_until_death(tmp_path)
    database = sqlite(tmp_path / "answers.db")
    assert select(database, "SELECT batch FROM answer__batch") == [(1,)], "the database has it"
    run = query(spark, tmp_path).start(tmp_path / "checkpoint", sink=sinks(tmp_path))
    assert run.checkpoint.committed == 0, "Spark has not"
    run.wait()
    wanted = Counter({("a",): 1, ("b",): 2})
    assert (bag(select(database, "SELECT k, _count FROM answer")), answer(run)) == (wanted, wanted)
    run.advance(6)
    run.wait()
    run.stop()
    assert select(database, "SELECT k, _count FROM answer") == [("b", 2)]


def test_any_sink_of_spark_s(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "0", (1, "a"), (3, "b"))
    q = query(spark, tmp_path)
    options = q.writer_options(tmp_path / "checkpoint")
    writer = q.change_stream(tmp_path / "checkpoint").writeStream.format("json").options(**options)
    assert writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination(60)
    found = spark.read.json(str(tmp_path / "out")).select("k", "_ts", "_exp", "_sign").collect()
    assert sorted(map(tuple, found)) == [("a", 1, 6, 1), ("b", 3, 8, 1)]
