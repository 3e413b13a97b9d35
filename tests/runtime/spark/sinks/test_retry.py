"""Would catch a sink that gives up at once or never, an error that says nothing, and a batch that counts twice."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from runtime.spark.sinks.crashing_sink import query
from runtime.spark.sinks.databases import bag, select, start_postgres
from runtime.spark.sinks.test_sinks import put
from runtime.spark.sinks.test_table_sink import changes, sink
from thalweg.core.errors import DataError, SinkError
from thalweg.runtime.spark.sinks import NO_RETRY, Database, Retry, Sinks, TableSink, postgres, sqlite
from thalweg.runtime.spark.sinks.database import is_operational
from thalweg.runtime.spark.sinks.retry import Retries

SHORT = Retry(attempts=5, first_delay=0.01)


class Flaky:
    """Fails so often, then writes; it counts the attempts."""

    def __init__(self, failures: int, error: type[Exception] = ConnectionError) -> None:
        self.failures, self.error, self.attempts = failures, error, 0
        self.batches: list[int] = []

    def write(self, changes: DataFrame, batch: int) -> None:
        changes.collect()
        self.attempts += 1
        if self.attempts <= self.failures:
            raise self.error("it fails\x1b[2J")
        self.batches.append(batch)


class Choosy(Flaky):
    """Says itself which errors may pass."""

    name = "my sink"
    retry = SHORT

    def is_transient(self, error: Exception) -> bool:
        return isinstance(error, RuntimeError)


class Rows:
    """The changes of a batch, as Spark would bring them; it counts how often the query is run for them."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.runs = table, 0

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        self.runs += 1
        return self.table

    def collect(self) -> list[Any]:
        self.runs += 1
        return []


def written(rows: Rows, *given: Any, retries: Retries | None = None) -> Retries:
    retries = retries or Retries(SHORT)
    Sinks(given, StructType(), retries).write(rows, 0)  # type: ignore[arg-type]
    return retries


def test_a_sink_that_fails_twice_is_tried_again_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    flaky, slept = Flaky(2), list[float]()
    retries = Retries(Retry(), sleep=slept.append)
    with caplog.at_level(logging.WARNING, "thalweg.sinks"):
        written(Rows(changes()), flaky, retries=retries)
    assert (flaky.attempts, flaky.batches, retries.counts) == (3, [0], {"Flaky": 2})
    assert 0.35 <= slept[0] <= 1.05 and 0.7 <= slept[1] <= 2.1
    assert [r.getMessage().split(" failed")[0] for r in caplog.records] == [
        f"Flaky, batch 0: attempt {n} of 5" for n in (1, 2)
    ]
    assert "\x1b" not in caplog.text


def test_it_ends_with_the_sink_the_batch_the_attempts_and_the_last_error() -> None:
    flaky, retries = Flaky(9), Retries(Retry(attempts=3, first_delay=0))
    with pytest.raises(SinkError, match=r"the sink Flaky could not write batch 0 in 3 attempts over 0\.\d seconds; "):
        written(Rows(changes()), flaky, retries=retries)
    assert retries.counts == {"Flaky": 2}
    with pytest.raises(SinkError, match=r"last error: ConnectionError: it fails\\x1b"):
        written(Rows(changes()), Flaky(9), retries=Retries(NO_RETRY))


def test_only_errors_that_may_pass_are_worth_another_attempt() -> None:
    broken = Flaky(1, ValueError)
    with pytest.raises(SinkError, match="could not write batch 0 at the first attempt; the last error: ValueError"):
        written(Rows(changes()), broken)
    assert broken.attempts == 1
    refusing = Flaky(1, DataError)
    with pytest.raises(DataError, match="it fails"):  # ours: it says all itself
        written(Rows(changes()), refusing)
    choosy = Choosy(2, RuntimeError)
    assert written(Rows(changes()), choosy).counts == {"my sink": 2}
    with pytest.raises(SinkError, match="the sink my sink could not write"):
        written(Rows(changes()), Choosy(1, ConnectionError))


def test_delays_double_up_to_the_longest_and_are_spread() -> None:
    policy = Retry(attempts=9, first_delay=1, longest_delay=5)
    for failed, middle in ((1, 1), (2, 2), (3, 4), (4, 5), (8, 5)):
        found = [policy.delay(failed) for _ in range(50)]
        assert all(middle / 2 <= delay <= middle * 1.5 for delay in found) and len(set(found)) > 10
    for wrong in ({"attempts": 0}, {"first_delay": -1}, {"longest_delay": -1}):
        with pytest.raises(DataError, match="a retry policy wants"):
            Retry(**wrong)


LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("COMMIT")
"""


def opened(table: TableSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: int) -> TableSink:
    context = table._need_context()
    monkeypatch.setattr(type(context), "now", lambda self, batch: now)
    monkeypatch.setattr(type(context), "owner", lambda self: "mine")
    return table


def test_a_file_of_sqlite_that_another_process_locks_for_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "answers.db"
    impatient = sqlite(file)
    impatient = Database(
        lambda: sqlite3.connect(file, timeout=0), "qmark", impatient.types, impatient.value,
        is_transient=impatient.is_transient,
    )  # fmt: skip
    table = opened(sink(impatient, "t"), tmp_path, monkeypatch, 5)
    rows = Rows(changes((1, "a", 1, None, 1), (2, "b", 3, 9, 1)))
    sqlite3.connect(file).execute("CREATE TABLE another (a)")
    with subprocess.Popen([sys.executable, "-c", LOCK, str(file), "1"], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"locked\n"
        retries = written(rows, table, retries=Retries(Retry(attempts=10, first_delay=0.3, longest_delay=0.5)))
    assert retries.counts["TableSink t"] >= 1
    assert rows.runs == 1, "the query runs once, however often the table is tried"
    assert bag(table.answer()) == {(1, "a"): 1, (2, "b"): 1}
    written(Rows(rows.table), table)
    assert bag(table.answer()) == {(1, "a"): 1, (2, "b"): 1}


def test_postgres_that_is_stopped_and_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handle, database = start_postgres(tmp_path / "postgres")
    table = opened(sink(database, "t"), tmp_path, monkeypatch, 5)
    written(Rows(changes((1, "a", 1, None, 1))), table)
    handle.cleanup()
    again: list[Any] = []
    later = threading.Timer(1.0, lambda: again.append(start_postgres(tmp_path / "postgres")))
    later.start()
    retries = Retries(Retry(attempts=30, first_delay=0.2, longest_delay=0.5))
    Sinks([table], StructType(), retries).write(Rows(changes((2, "b", 2, None, 1))), 1)  # type: ignore[arg-type]
    later.join()
    assert retries.counts["TableSink t"] >= 1
    assert bag(table.answer()) == {(1, "a"): 1, (2, "b"): 1}
    assert select(database, "SELECT batch FROM t__batch") == [(1,)]
    (server, _) = again[0]
    server.cleanup()
    with pytest.raises(SinkError, match=r"the sink TableSink t could not write batch 2 in 3 attempts"):
        Sinks([table], StructType(), Retries(Retry(3, 0))).write(Rows(changes()), 2)  # type: ignore[arg-type]


def test_which_errors_of_databases_may_pass() -> None:
    class OperationalError(Exception):
        sqlstate: str | None = None

    assert is_operational(OperationalError("server closed the connection"))
    assert not is_operational(OperationalError("no such table: t"))
    assert not is_operational(ValueError("x"))
    of_postgres = postgres("postgresql://nobody@nowhere/none").is_transient
    assert of_postgres(OperationalError("connection refused"))
    assert not of_postgres(OperationalError('FATAL: password authentication failed for user "x"'))
    for state, passes in (("57P01", True), ("40001", True), ("08006", True), ("42P01", False), ("22021", False)):
        error = OperationalError("x")
        error.sqlstate = state
        assert of_postgres(error) is passes, state


def test_a_running_query_goes_on_after_a_sink_has_failed_for_a_moment(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "0", (1, "a"), (2, "b"))
    flaky, table = Flaky(2), TableSink(sqlite(tmp_path / "answers.db"), "answer")
    began = time.monotonic()
    run = query(spark, tmp_path).start(tmp_path / "checkpoint", sink=[flaky, table], retry=SHORT)
    run.wait()
    assert time.monotonic() - began < 60
    assert (flaky.batches, run.metrics().retries) == ([0], {"Flaky": 2})
    assert sum(bag(table.answer()).values()) == 2
    run.stop()
    run = query(spark, tmp_path).start(tmp_path / "checkpoint", sink=[Flaky(9), table], retry=Retry(2, 0))
    put(tmp_path, "1", (3, "c"))
    with pytest.raises(SinkError, match="the sink Flaky could not write batch 1 in 2 attempts"):
        run.wait()
