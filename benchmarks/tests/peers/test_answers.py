"""Would catch a judge who takes a wrong answer for a right one, or cannot read what a system writes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.spark.tasks.flow_answers import FlowAnswers
from thalweg_benchmarks.peers.answers import compare, connect, expect
from thalweg_benchmarks.peers.data import write
from thalweg_benchmarks.peers.queries import QUERIES

TEN = datetime(2026, 1, 1, 0, 0, 10)


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    """Expects two rows at ten seconds."""
    database = connect()
    expect(database, QUERIES["distinct"], write(tmp_path / "data", "one", 11_000, 11_000, ["parquet"]))
    database.execute("CREATE OR REPLACE TABLE expected AS SELECT t, UNNEST([1, 2])::BIGINT AS k FROM instants")
    (tmp_path / "out").mkdir()
    return database


def test_expected_rows_are_those_of_the_windows(tmp_path: Path) -> None:
    database, place = connect(), write(tmp_path, "one", 11_000, 11_000, ["parquet"])
    expect(database, QUERIES["aggregate"], place)
    assert database.sql("SELECT t FROM instants").fetchall() == [(TEN,)]
    rows = pq.read_table(place / "parquet/s/0000.parquet").slice(0, 9_990).to_pylist()
    assert rows[-1]["ts"].second == 9
    hottest = [row["v"] for row in rows if row["k"] == 0]
    (found,) = database.sql("SELECT * FROM expected WHERE k = 0").fetchall()
    assert found == (TEN, 0, len(hottest), sum(hottest))


def test_plain_rows_of_parquet_and_csv(judge: Any, tmp_path: Path) -> None:
    late = datetime(2026, 1, 1, 0, 0, 20)  # a window that closes after the last row
    pq.write_table(pa.table({"t": [TEN, TEN, late], "k": [1, 2, 9]}), tmp_path / "out" / "a.parquet")
    assert compare(judge, QUERIES["distinct"], tmp_path / "out").equal
    (tmp_path / "out" / "a.parquet").unlink()
    (tmp_path / "out" / "part-0").write_text('"2026-01-01 00:00:10",1\n')
    (tmp_path / "out" / "part-1").write_text('"2026-01-01 00:00:10",2\n')
    assert compare(judge, QUERIES["distinct"], tmp_path / "out").equal


def test_missing_extra_and_doubled_rows_are_reported(judge: Any, tmp_path: Path) -> None:
    (tmp_path / "out" / "part-0").write_text("2026-01-01 00:00:10,1\n2026-01-01 00:00:10,1\n")
    found = compare(judge, QUERIES["distinct"], tmp_path / "out")
    assert (found.expected, found.missing, found.extra, found.equal) == (2, 1, 1, False)
    assert any(example.startswith("missing") and "2)" in example for example in found.examples)


def test_nothing_at_all_is_wrong(judge: Any, tmp_path: Path) -> None:
    assert compare(judge, QUERIES["distinct"], tmp_path / "out").missing == 2


def test_a_changelog_adds_up(judge: Any, tmp_path: Path) -> None:
    ms = 1_767_225_610_000
    lines = ["t,number,time,diff", f"{ms},1,2,1", f"{ms},7,2,1", f"{ms},7,4,-1", f"{ms},2,4,1"]
    (tmp_path / "out" / "answer.csv").write_text("\n".join(lines) + "\n")
    assert compare(judge, QUERIES["distinct"], tmp_path / "out").equal


def test_dated_changes_count_while_they_last(judge: Any, tmp_path: Path) -> None:
    zero, nine = datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 9)
    rows = {"k": [1, 2, 3, 4, 5, 5], "_ts": [zero, None, zero, TEN.replace(second=11), zero, nine]}
    rows |= {"_exp": [None, None, TEN, None, None, None], "_sign": [1, 1, 1, 1, 1, -1]}
    pq.write_table(pa.table(rows), tmp_path / "out" / "a.parquet")
    assert compare(judge, QUERIES["distinct"], tmp_path / "out").equal


def test_the_newest_rows_of_a_key_count(tmp_path: Path) -> None:
    database = connect()
    expect(database, QUERIES["last-ten"], write(tmp_path / "data", "one", 1_000, 1_000, ["parquet"]))
    database.execute("CREATE OR REPLACE TABLE expected AS SELECT * FROM (VALUES (1, 2.0), (2, 5.0)) AS _ (k, v)")
    for batch, k, v in ((0, 1, 1.0), (1, 1, 2.0), (0, 2, 5.0)):
        folder = tmp_path / "out" / f"batch={batch}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"k": [k], "v": [v]}), folder / f"{k}.parquet")
    assert compare(database, QUERIES["last-ten"], tmp_path / "out").equal


def test_rows_of_a_flow_go_to_their_queries(tmp_path: Path) -> None:
    database, workload = connect(), QUERIES["filters"].workload
    expect(database, QUERIES["filters"], write(tmp_path / "data", workload, 1_000, 1_000, ["parquet"]))
    database.execute("CREATE OR REPLACE TABLE expected AS SELECT * FROM (VALUES (0, 7), (2, 8)) AS _ (q, id)")
    batch = Batch.of_arrivals([np.array([7, 8])], np.array([1, 2]))
    both = Batch.concat([batch, batch.negated()])  # with their ends, which are negative tuples
    part = AnswerPart(both, Schema.of(id=DataType.BIGINT), StringPool(), ("q1", "q3"), np.array([0, 1, 0, 1]))
    (tmp_path / "out").mkdir()
    pq.write_table(pa.Table.from_batches(FlowAnswers().rows([part])), tmp_path / "out" / "a.parquet")
    assert compare(database, QUERIES["filters"], tmp_path / "out").equal
