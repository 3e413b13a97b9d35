"""Would catch a query of ours that gives other rows than SQL over all rows, and a peer that is left out silently."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import thalweg as tw
from thalweg_benchmarks.peers.answers import connect, expect
from thalweg_benchmarks.peers.data import write
from thalweg_benchmarks.peers.environments import PEERS
from thalweg_benchmarks.peers.queries import QUERIES, PeerQuery, why_not
from thalweg_benchmarks.peers.run import PROGRAMS, Setting, measure
from thalweg_benchmarks.peers.streams import WORKLOADS

ROWS = {"at": 12_000, "all": 4_000, "final": 4_000}  # an instant, or a few seconds
FEW = 60  # of the filters
IN_PROCESS = [name for name in QUERIES if name not in ("filters", "nexmark-q6")]  # a flow; a stream by other times


@pytest.mark.parametrize("name", IN_PROCESS)
def test_our_query_gives_the_expected_rows(name: str, tmp_path: Path) -> None:
    query = QUERIES[name]
    rows = 2 * ROWS["at"] if name == "except" else ROWS[query.shape]
    place, database = write(tmp_path, query.workload, rows, rows, ["parquet"]), connect()
    expect(database, query, place)
    expected = sorted(database.sql("SELECT * FROM expected").fetchall())
    assert expected and sorted(_ours(query, place)) == expected


def _ours(query: PeerQuery, place: Path) -> list[tuple[Any, ...]]:
    """The answer at ten seconds, the last one, or all that ever entered it, of the query that the program asks."""
    session = tw.local()
    rows = []
    for stream in WORKLOADS[query.workload]:
        table = pq.read_table(place / "parquet" / stream.name / "0000.parquet")
        columns = ", ".join(f"{field.name} {_TYPES[str(field.type)]}" for field in table.schema)
        session.execute(f"CREATE STREAM {stream.name} ({columns}) TIMESTAMP BY ts")
        rows += [(row["ts"], stream.name, tuple(row.values())) for row in table.to_pylist()]
    asked = session.query(_cql(query.name))
    rows.sort(key=lambda row: row[:2])
    for _, stream_name, row in rows:
        session.push(stream_name, [row])
    if query.shape == "at":
        at = rows[0][0].replace(second=10, microsecond=0)
        return [(at.replace(tzinfo=None), *row) for row in asked.answer(at)]
    if query.shape == "final":
        return [tuple(row) for row in asked.answer()]
    return [tuple(row) for _, sign, row in asked.changes() if sign > 0]


_TYPES = {"timestamp[us, tz=UTC]": "TIMESTAMP", "int64": "BIGINT", "double": "DOUBLE", "string": "STRING"}


def _cql(name: str) -> str:
    for node in ast.walk(ast.parse((PROGRAMS / "thalweg" / f"{name}.py").read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "query":
            return str(ast.literal_eval(node.args[0]))
    raise AssertionError(f"{name} asks nothing")


@pytest.mark.parametrize(("peer", "query"), [(peer, query) for peer in PEERS for query in QUERIES])
def test_there_is_a_program_or_a_reason_why_not(peer: str, query: str) -> None:
    program = PROGRAMS / peer / f"{query}.py"
    assert program.exists() != bool(why_not(peer, query))


def test_no_program_is_forgotten() -> None:
    assert {path.stem for path in PROGRAMS.glob("*/*.py")} == {*QUERIES, "latency"}
    assert {path.name for path in PROGRAMS.iterdir()} == set(PEERS)


@pytest.mark.parametrize("name", ["aggregate", "join", "last-ten", "six-way", "filters", "nexmark-q4", "nexmark-q6"])
def test_duckdb_gives_the_expected_rows(name: str, tmp_path: Path) -> None:
    found = measure(QUERIES[name], PEERS["duckdb"], Setting(tmp_path, rows=12_000, timed=False))
    assert found.verdict == "right", found.why
    assert found.difference is not None and found.difference.expected > 0


def test_our_filters_give_the_expected_rows(tmp_path: Path) -> None:
    place, database = write(tmp_path, "attributes", 8_000, 8_000, ["parquet"]), connect()
    expect(database, QUERIES["filters"], place)
    session, table = tw.local(), pq.read_table(place / "parquet/s/0000.parquet")
    session.execute("CREATE STREAM s (ts TIMESTAMP, id INT, a INT, b INT, c INT, d INT, e INT) TIMESTAMP BY ts")
    flow = session.flow("filters")
    ids = [flow.add(cql) for cql in _filters(place)[:FEW]]
    session.push("s", zip(*(column.to_pylist() for column in table.columns), strict=True))
    found = [(q, row[0]) for q, id_ in enumerate(ids) for _, sign, row in flow.changes(id_) if sign > 0]
    assert sorted(found) == sorted(database.sql(f"FROM expected WHERE q < {FEW}").fetchall()) != []


def _filters(place: Path) -> list[str]:
    """The list that the program makes."""
    tree = ast.parse((PROGRAMS / "thalweg" / "filters.py").read_text())
    (made,) = [node for node in ast.walk(tree) if isinstance(node, ast.ListComp)]
    names = {"json": json, "Path": Path, "data": place}
    return list(eval(compile(ast.Expression(made), "filters.py", "eval"), names))


@pytest.mark.parametrize("name", ["nexmark-q8", "filters"])  # a query; a flow
def test_a_program_of_ours_on_spark_gives_the_expected_rows(name: str, tmp_path: Path) -> None:
    found = measure(QUERIES[name], PEERS["thalweg"], Setting(tmp_path, rows=12_000, timed=False))
    assert found.verdict == "right", found.why


def test_a_reason_and_an_absent_module_are_results(tmp_path: Path) -> None:
    assert measure(QUERIES["nexmark-q4"], PEERS["spark"], Setting(tmp_path)).verdict == "cannot express"
    absent = measure(QUERIES["join"], replace(PEERS["duckdb"], needs=("no_such_module",)), Setting(tmp_path))
    assert (absent.verdict, absent.why) == ("not here", "no_such_module is not installed")
