"""Would catch a Ctrl-C that loses rows, a second start that begins anew, or mistakes reported after Spark is up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow.csv import write_csv
from pyspark.sql import SparkSession

from cli.run import lines, refusal, thalweg
from runtime.spark.session import environment
from thalweg.algebra.catalog import Catalog
from thalweg.cli.script import checked_queries, read_script
from thalweg.cli.sources import parse_source
from thalweg.generators import make
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.tools.command_line_sources import declare

SCRIPT = """
CREATE STREAM c (ts TIMESTAMP, src STRING, bytes BIGINT) TIMESTAMP BY ts;
REGISTER QUERY busy AS
  SELECT src, SUM(bytes) AS total FROM c [RANGE 10 SECONDS] GROUP BY src ORDER BY total DESC LIMIT 3;
"""
SOURCE = "c=generator:connections?rate=200&rows=40000"
FILES, ROWS = 40, 1_000  # in each


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "q.cql"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A folder of files, for one batch each."""
    folder, made = tmp_path / "rows", make("connections", rate=200, hosts=9)
    folder.mkdir()
    for number in range(FILES):
        path = folder / f"{number:02}.csv"
        write_csv(made.table(number * ROWS, ROWS).select(["ts", "src", "bytes"]), path)
        os.utime(path, (number, path.stat().st_mtime - FILES + number))  # Spark takes the oldest first
    return folder


def start(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "thalweg", *map(str, args)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment(), start_new_session=True)


def test_ctrl_c_and_a_second_start(script: Path, rows: Path, tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    source = f"c=csv:{rows}?files_per_batch=1"
    run = start("run", script, "--source", source, "--checkpoint", place, "--sink", "console", "--shards", 2)
    assert run.stderr is not None
    printed = [run.stderr.readline()]
    while not printed[-1].startswith("busy: batch"):
        printed.append(run.stderr.readline())
        assert printed[-1], "it ended: " + "".join(printed)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    out, errors = run.communicate(timeout=120)
    assert (run.returncode, errors.splitlines()[-1]) == (0, f"stopped. To go on: {_again(script, place)}")
    assert out.startswith("at 2026-01-01 00:00:0")

    held = json.loads(lines("state", place, "--json")[0])
    done = held["batches"]
    assert 0 < done < FILES
    assert {shard["stage"] for shard in held["shards"]} == {0, 1}
    listing = "\n".join(lines("state", place, "--stage", 0, "--shard", 0))
    assert f"busy: {done} batches done, strategy auto" in listing
    assert "8 groups; 2 shards from batch 0 on" in listing
    assert "groups.0.pipeline.pool.runs.0.0: int64" in listing

    source = f"c=csv:{rows}?files_per_batch=20"
    second = start("run", script, "--source", source, "--checkpoint", place, "--until-done", "--verify", "--shards", 3)
    out, errors = second.communicate(timeout=240)
    assert second.returncode == 0, errors
    assert errors.count(f"busy: goes on in 3 shards instead of 2, from batch {done} on") == 1, errors
    assert "busy at 2026-01-01 00:03:19.99" in errors.splitlines()[-1], errors
    assert "equal to the one-time query in Spark SQL, 3 rows" in errors.splitlines()[-1]
    held = json.loads(lines("state", place, "--json")[0])
    assert held["batches"] > done
    assert held["layouts"] == [{"since": 0, "shards": 2}, {"since": done, "shards": 3}]
    assert [(s["stage"], s["shard"]) for s in held["shards"]] == [(i, j) for i in range(2) for j in range(3)]


def _again(script: Path, place: Path) -> str:
    return f"thalweg run {script} ... --checkpoint {place}"


def test_a_generator_feeds_a_query(spark: SparkSession, script: Path, tmp_path: Path) -> None:
    catalog = Catalog()
    (query,) = checked_queries(read_script(str(script)), catalog)
    engine = Engine(spark, shards=1)
    source = parse_source("c=generator:connections?rate=200&rows=400&rows_per_batch=300&partitions=1&hosts=9")
    declare(engine, catalog, [query.plan], {"c": source})
    run = engine.query(query.plan).start(tmp_path / "checkpoint", trigger={"availableNow": True})
    assert run.wait_until_done(120)
    assert (run.checkpoint.committed, run.answer().count()) == (1, 3)


def test_mistakes_are_reported_before_spark_starts(script: Path, tmp_path: Path) -> None:
    assert "has no query.json" in refusal("state", tmp_path)
    assert "there is no kind 'cvs'" in refusal("run", script, "--source", "c=cvs:x")
    assert "did you mean csv?" in refusal("run", script, "--source", "c=cvs:x")
    assert "--sink sqlight:x is not understood" in refusal("run", script, "--source", SOURCE, "--sink", "sqlight:x")
    assert "expected NAME=KIND:WHERE, got 'c=csv'" in thalweg("run", script, "--source", "c=csv").stderr
    assert "c has two sources" in thalweg("run", script, "--source", SOURCE, "--source", SOURCE).stderr
    assert "there is no query bizy" in refusal("run", script, "--source", SOURCE, "--query", "bizy")
