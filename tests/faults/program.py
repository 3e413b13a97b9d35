"""A program that runs a query of two stages to the end of its input, wherever it was; whoever kills it starts it again.

    python -m faults.program FOLDER [--master local[2,4]] [--rows 3000] [--per-batch 200] [--disturb raise]

The checkpoint is FOLDER/checkpoint. At the end FOLDER/changes.json holds the changes of the answer, as the Parquet sink
has them, and FOLDER/answer.db the answer, as a table sink keeps it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import thalweg as tw
from faults.disturbed import disturbed
from thalweg.generators import make
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.sinks import ParquetSink, Sink, TableSink, sqlite
from thalweg.runtime.spark.sources.generator import generator

# Connections from the same host within two seconds of each other, then what they carry by protocol.
QUERY = """
SELECT a.protocol, COUNT(*) AS n, SUM(b.bytes) AS total
FROM connections [RANGE 2 SECONDS] AS a, connections [RANGE 2 SECONDS] AS b
WHERE a.src = b.src AND a.link = b.link
GROUP BY a.protocol
"""
OPTIONS = {"seed": 7, "rate": 100.0, "hosts": 50}
SHARDS = 3

Change = tuple[int, tuple[Any, ...]]  # when, and the row


def run(folder: Path, master: str, rows: int, per_batch: int, settings: dict[str, str], disturb: str | None) -> None:
    """Until there is no more input; the changes are written down when all is done."""
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, sys.path)))
    spark = local_spark(**{"spark.driver.memory": "1g", "spark.master": master, **settings})
    engine = Engine(spark, shards=SHARDS)
    frame = generator(spark, "connections", rows=rows, rows_per_batch=per_batch, partitions=2, **OPTIONS)
    engine.stream("connections", frame, ahead=None)
    with disturbed(disturb, folder / "disturbed"):
        running = engine.query(QUERY).start(folder / "checkpoint", sink=sinks(folder), trigger={"availableNow": True})
    running.wait_until_done()
    replace_file(folder / "changes.json", json.dumps(changes_of(running)).encode())
    spark.stop()


def sinks(folder: Path) -> list[Sink]:
    """All changes, and the answer."""
    return [ParquetSink(folder / "changes"), TableSink(sqlite(folder / "answer.db"), "answer")]


def read_answer(folder: Path) -> Counter[tuple[Any, ...]]:
    """The answer that the table sink holds."""
    with closing(sqlite(folder / "answer.db").connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT protocol, n, total, _count FROM answer")
        return Counter({tuple(row[:-1]): row[-1] for row in cursor.fetchall()})


def last_answer(changes: Counter[Change]) -> Counter[tuple[Any, ...]]:
    """What all changes add up to."""
    answer: Counter[tuple[Any, ...]] = Counter()
    for (_, row), count in changes.items():
        answer[row] += count
    return Counter({row: count for row, count in answer.items() if count})


def changes_of(running: SparkQueryRun) -> list[tuple[int, int, tuple[Any, ...]]]:
    """What a query has emitted so far: when, how often, the row."""
    return [(_micros(row["_t"]), row["_sign"], tuple(row)[2:]) for row in running.changes().collect()]


def _micros(t: datetime) -> int:
    """Spark gives times of the machine's zone."""
    return round(t.astimezone(UTC).timestamp() * 1_000_000)


def read_changes(folder: Path) -> Counter[Change]:
    """What a program that has come to its end has emitted."""
    return netted((t, sign, tuple(row)) for t, sign, row in json.loads((folder / "changes.json").read_bytes()))


def expected(rows: int) -> Counter[Change]:
    """The same from the engine in this process, in one go."""
    made = make("connections", **OPTIONS)
    table = made.table(0, rows)
    session = tw.local()
    session.execute(
        "CREATE STREAM connections (ts TIMESTAMP, duration DOUBLE, protocol STRING, bytes INT, src STRING, dst STRING,"
        " link INT) TIMESTAMP BY ts"
    )
    query = session.query(QUERY)
    session.push("connections", [tuple(row.values()) for row in table.to_pylist()])
    session.advance(table.column("ts")[-1].as_py())
    return netted((_ticks(change[0]), change[1], tuple(change[2])) for change in query.changes())


def _ticks(t: Any) -> int:
    return t if isinstance(t, int) else round(t.replace(tzinfo=UTC).timestamp() * 1_000_000)


def netted(changes: Iterable[tuple[int, int, tuple[Any, ...]]]) -> Counter[Change]:
    """Changes by instant and row, without those that cancel."""
    net: Counter[Change] = Counter()
    for t, sign, row in changes:
        net[t, row] += sign
    return Counter({change: count for change, count in net.items() if count})


def main() -> None:
    """As a command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--master", default="local[2,4]")
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--per-batch", type=int, default=200)
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE, one of Spark's settings")
    parser.add_argument("--disturb", choices=("raise", "slow"), help="tasks that fail once, or are slow once")
    options = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in options.set)
    run(options.folder, options.master, options.rows, options.per_batch, settings, options.disturb)


if __name__ == "__main__":
    main()
