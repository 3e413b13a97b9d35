"""`thalweg flow`: would catch a catalogue that loses queries, and a run that leaves some out or misreports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.run import lines, refusal, thalweg
from thalweg.cli.flow.watch import Watch
from thalweg.flows.catalog import Catalogue

COUNT = "SELECT b, COUNT(*) AS n FROM s [RANGE 3] GROUP BY b"


@pytest.fixture
def flowdir(tmp_path: Path) -> Path:
    (tmp_path / "streams.cql").write_text("CREATE STREAM s (a INT, b STRING); CREATE STREAM r (a INT)")
    (tmp_path / "rows.csv").write_text("ts,a,b\n1,5,x\n2,20,x\n4,30,y\n")
    return tmp_path / "f"


def start(flowdir: Path, *args: object) -> tuple[object, ...]:
    root = flowdir.parent
    return ("flow", "start", flowdir, root / "streams.cql", "--input", f"s={root / 'rows.csv'}", *args)


def test_queries_are_added_listed_shown_and_dropped(flowdir: Path) -> None:
    assert lines("flow", "add", flowdir, COUNT, "--name", "busy", "--owner", "ann", "--results", "9") == ["q1"]
    assert lines("flow", "add", flowdir, "-", stdin="SELECT a\nFROM s WHERE a > 10") == ["q2"]
    assert lines("flow", "list", flowdir) == [
        "id  name  owner  cql",
        f"q1  busy  ann    {COUNT}",
        "q2  q2           SELECT a FROM s WHERE a > 10",
    ]
    (shown,) = map(json.loads, lines("flow", "list", flowdir, "--owner", "ann", "--json"))
    assert shown == {
        "seq": 1, "id": "q1", "name": "busy", "owner": "ann", "cql": COUNT, "backfill": False, "quotas": {"results": 9},
    }  # fmt: skip
    assert lines("flow", "show", flowdir, "BUSY")[:3] == ["seq       1", "id        q1", "name      busy"]
    assert lines("flow", "drop", flowdir, "busy") == ["q1"]
    assert [json.loads(line)["id"] for line in lines("flow", "list", flowdir, "--json")] == ["q2"]
    added = json.loads(lines("flow", "add", flowdir, "SELECT a FROM s", "--backfill", "--json")[0])
    assert (added["seq"], added["id"], added["backfill"]) == (4, "q4", True)


def test_all_queries_of_a_flow_run(flowdir: Path) -> None:
    lines("flow", "add", flowdir, COUNT, "--name", "busy")
    assert lines(*start(flowdir)) == [
        "busy:", "t  sign  b  n", "1  +     x  1", "2  -     x  1", "2  +     x  2", "4  -     x  2", "4  +     x  1",
        "4  +     y  1",
    ]  # fmt: skip
    lines("flow", "add", flowdir, "SELECT a FROM s WHERE a > 10", "--name", "high")
    printed = [
        json.loads(line) for line in lines(*start(flowdir, "--show", "final", "--format", "jsonl", "--until", 5))
    ]
    assert printed == [
        {"query": "busy", "t": 5, "rows": [{"b": "y", "n": 1}]},
        {"query": "high", "t": 5, "rows": [{"a": 20}, {"a": 30}]},
    ]
    assert lines(*start(flowdir, "--show", "nothing")) == []


def test_top_shows_what_queries_cost_and_give(flowdir: Path) -> None:
    for _ in range(2):
        lines("flow", "add", flowdir, COUNT)
    lines("flow", "add", flowdir, "SELECT a FROM s", "--results", "1")
    assert "has no metrics yet" in refusal("flow", "top", flowdir)
    result = thalweg(*start(flowdir, "--show", "nothing"))
    assert result.stderr == "q3 (q3) is suspended: it has emitted 3 results, its quota is 1 in all\n"
    printed: dict[str, Any] = json.loads(lines("flow", "top", flowdir, "--json")[0])
    assert (printed["done"], printed["now"], printed["flow"]) == (True, "4", "f")
    assert [(q["id"], q["state"], q["seen"]) for q in printed["queries"]] == [
        ("q1", "running", 3), ("q2", "running", 3), ("q3", "suspended", 3),
    ]  # fmt: skip
    assert printed["queries"][0]["saved"] == pytest.approx(0.5)
    head, columns, *rows = lines("flow", "top", flowdir, "--watch", "1")
    assert head.startswith("3 queries at 4; ") and head.endswith("% of their work saved by sharing")
    assert columns.split()[:6] == ["id", "name", "owner", "state", "tuples", "results"]
    assert sorted(row.split()[0] for row in rows) == ["q1", "q2", "q3", "q3"]
    assert json.loads(lines("flow", "show", flowdir, "q1", "--json")[0])["metrics"]["saved"] == pytest.approx(0.5)


def test_queries_that_come_and_go_while_a_flow_runs_are_taken_up(flowdir: Path) -> None:
    rows = "".join(f"{t},{t},x\n" for t in range(2500))
    (flowdir.parent / "rows.csv").write_text(f"ts,a,b\n{rows}")
    lines("flow", "add", flowdir, "SELECT COUNT(*) AS n FROM s", "--name", "all")
    lines("flow", "add", flowdir, "SELECT a FROM s", "--name", "gone")
    looks = []

    class WatchThatChangesQueries(Watch):
        seconds_between_looks = 0.0

        def look(self, done: bool = False) -> None:
            looks.append(done)
            if len(looks) == 2:  # after a thousand rows
                Catalogue(flowdir).add("SELECT COUNT(*) AS n FROM s", "late")
                Catalogue(flowdir).add("SELECT COUNT(*) AS n FROM s [ROWS 7]", "filled", backfill=True)
                Catalogue(flowdir).add("SELECT a FROM r", "lost")
                Catalogue(flowdir).drop("gone")
            super().look(done)

    result = thalweg(*start(flowdir, "--show", "final", "--format", "jsonl"), obj=WatchThatChangesQueries)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert {printed["query"]: printed["rows"] for printed in found} == {
        "all": [{"n": 2500}], "late": [{"n": 1500}], "filled": [{"n": 7}],
    }  # fmt: skip
    assert "(lost) is suspended: the stream r has no input" in result.stderr
    assert looks[-1] is True


def test_mistakes_are_reported(flowdir: Path) -> None:
    declared = flowdir.parent / "streams.cql"
    assert "is no flow: it has no queries.jsonl" in refusal("flow", "list", flowdir)
    assert "is no flow" in refusal(*start(flowdir))
    assert "expected a stream" in refusal("flow", "add", flowdir, "SELECT a FROM")
    assert "there is no column c" in refusal("flow", "add", flowdir, "SELECT c FROM s", "--against", declared)
    assert not (flowdir / "queries.jsonl").exists()
    lines("flow", "add", flowdir, "SELECT c FROM s", "--name", "wrong")
    assert "there is no query rong" in refusal("flow", "drop", flowdir, "rong")
    refused = thalweg(*start(flowdir))
    assert refused.exit_code == 2
    assert "q1 (wrong) is suspended: there is no column c" in refused.stderr
    assert "has no query that can run" in refused.stderr
    lines("flow", "add", flowdir, "SELECT a FROM r")
    assert "the stream r has no input" in thalweg(*start(flowdir)).stderr
    declared.write_text("CREATE STREAM s (a INT); REGISTER QUERY q AS SELECT a FROM s")
    assert "has the query q, but the queries of a flow are in its folder" in refusal(*start(flowdir))
