"""Would catch table rows that load at the wrong time, and an operation that does something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.run import lines, refusal, thalweg

STREAM = "ts,a\n1,1\n5,1\n7,1\n"
# Out of order: a table's updates are sorted by time.
TABLE = """\
k,name,_at,_op
1,eins,7,+
1,one,,
1,,6,-
1,uno,4,~
"""


def script(kind: str) -> str:
    return (
        f"CREATE STREAM s (a INT); CREATE {kind} r (k INT PRIMARY KEY, name STRING);"
        "REGISTER QUERY q AS SELECT s.a, r.name FROM s JOIN r ON s.a = r.k"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s.csv").write_text(STREAM)
    (tmp_path / "r.csv").write_text(TABLE)
    return tmp_path


def test_updates_of_a_relation_look_back(folder: Path) -> None:
    args = ["--input", f"s={folder}/s.csv", "--input", f"r={folder}/r.csv", "--format", "csv"]
    assert lines("replay", "-", *args, stdin=script("RELATION")) == [
        "t,sign,a,name",
        "1,+,1,one",
        *("4,-,1,one", "4,+,1,uno"),
        "5,+,1,uno",
        *("6,-,1,uno", "6,-,1,uno"),
        *("7,+,1,eins", "7,+,1,eins", "7,+,1,eins"),
    ]


def test_updates_of_an_nrr_do_not(folder: Path) -> None:
    args = ["--input", f"s={folder}/s.csv", "--input", f"r={folder}/r.csv", "--format", "csv"]
    assert lines("replay", "-", *args, stdin=script("NRR")) == [
        "t,sign,a,name", "1,+,1,one", "5,+,1,uno", "7,+,1,eins"
    ]  # fmt: skip


def test_a_table_may_have_neither_times_nor_operations_nor_input(folder: Path) -> None:
    (folder / "plain.jsonl").write_text('{"k": 1, "name": "one"}\n{"k": 2}\n')
    args = ["replay", "-", "--input", f"s={folder}/s.csv", "--format", "csv", "--show", "final"]
    found = lines(*args, "--input", f"r={folder}/plain.jsonl", stdin=script("RELATION"))
    assert found == ["t,a,name", "7,1,one", "7,1,one", "7,1,one"]
    assert lines(*args, stdin=script("RELATION")) == ["t,a,name"]


def test_times_follow_the_clock_of_the_streams(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("at,a\n2026-01-31 07:00:00,1\n2026-01-31 07:00:02,1\n")
    (tmp_path / "r.csv").write_text("k,_at\n1,2026-01-31 07:00:01\n")
    text = (
        "CREATE STREAM s (at TIMESTAMP, a INT) TIMESTAMP BY at; CREATE RELATION r (k INT PRIMARY KEY);"
        "SELECT COUNT(*) AS n FROM s JOIN r ON s.a = r.k"
    )
    args = ["--input", f"s={tmp_path}/s.csv", "--input", f"r={tmp_path}/r.csv", "--show", "answers", "--format", "csv"]
    assert lines("replay", "-", *args, stdin=text) == [
        "t,n", "2026-01-31 07:00:00,0", "2026-01-31 07:00:01,1", "2026-01-31 07:00:02,2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ("1,one,,+\n1,uno,3,+\n", "line 3: r already has a row with key 1"),
        ("1,one,3,-\n", "line 2: r has no row with key 1"),
        ("1,one,3,*\n", "line 2: column _op wants an operation, got '*'"),
        ("1,one,soon,+\n", "line 2: column _at wants BIGINT, got 'soon'"),
    ],
)
def test_impossible_updates_are_refused_by_line(folder: Path, rows: str, error: str) -> None:
    (folder / "r.csv").write_text("k,name,_at,_op\n" + rows)
    args = ["--input", f"s={folder}/s.csv", "--input", f"r={folder}/r.csv"]
    assert refusal("replay", "-", *args, stdin=script("RELATION")).startswith(f"error: {folder}/r.csv, {error}\n")


def test_a_query_over_tables_alone(folder: Path) -> None:
    text = script("RELATION") + "; REGISTER QUERY names AS SELECT name FROM r"
    args = ["replay", "-", "--input", f"r={folder}/r.csv", "--query", "names", "--format", "csv"]
    assert lines(*args, "--at", 5, stdin=text) == ["t,name", "5,uno"]
    assert lines(*args, stdin=text)[1:] == ["4,+,uno", "6,-,uno", "7,+,eins"]
    (folder / "r.csv").write_text("k,name\n1,one\n")
    result = thalweg(*args, "--show", "final", stdin=text)
    assert (result.exit_code, result.stdout) == (0, "t,name\n,one\n")
