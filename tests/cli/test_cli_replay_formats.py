"""Would catch a file format that reads otherwise than the others, and output that a program cannot read back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.run import lines, refusal, thalweg

SCRIPT = """\
CREATE STREAM s (ts TIMESTAMP, b STRING, n INT, x DOUBLE, ok BOOLEAN, d INTERVAL) TIMESTAMP BY ts;
REGISTER QUERY all_of_it AS SELECT * FROM s [RANGE 2 SECONDS];
REGISTER QUERY busy AS SELECT b, SUM(n) AS n FROM s [RANGE 2 SECONDS] GROUP BY b;
"""
CSV = '''\
TS,b,n,x,ok,d,more
2026-01-31 07:00:00,x,1,0.5,true,5 seconds,?
2026-01-31 07:00:01.5,"y, ""z""",2,,F,,?
2026-01-31T08:00:02+01:00,,-3,1e3,,1 hour 30 minutes,?
'''
JSONL = """\
{"ts": "2026-01-31 07:00:00", "b": "x", "n": 1, "x": 0.5, "ok": true, "d": "5 seconds", "more": []}

{"TS": "2026-01-31 07:00:01.5", "b": "y, \\"z\\"", "n": 2, "ok": false}
{"ts": 1769842802000000, "b": null, "n": -3, "x": 1000, "d": "90 minutes"}
"""
ARROW = {
    "ts": pa.array([1769842800 * 10**9, 1769842801 * 10**9 + 5 * 10**8, 1769842802 * 10**9], pa.timestamp("ns", "UTC")),
    "b": pa.array(["x", 'y, "z"', None]).dictionary_encode(),
    "n": pa.array([1, 2, -3], pa.int8()),
    "x": pa.array([0.5, float("nan"), 1000], pa.float32()),
    "ok": pa.array([True, False, None]),
    "d": pa.array([5, None, 5400], pa.duration("s")),
}
CHANGES = """\
t                           sign  b        n
2026-01-31 07:00:00         +     x        1
2026-01-31 07:00:01.500000  +     y, "z"   2
2026-01-31 07:00:02         -     x        1
2026-01-31 07:00:02         +     NULL    -3
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "q.cql").write_text(SCRIPT)
    (tmp_path / "rows.csv").write_text(CSV)
    (tmp_path / "rows.jsonl").write_text(JSONL)
    (tmp_path / "rows.ndjson").write_text("\ufeff" + JSONL, encoding="utf-8")
    pq.write_table(pa.table(ARROW), tmp_path / "rows.parquet")
    return tmp_path / "q.cql"


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.ndjson", "rows.parquet"])
def test_every_input_format_gives_the_same_changes(script: Path, name: str) -> None:
    shown = lines("replay", script, "--input", f"s={script.parent / name}", "--query", "busy")
    assert "\n".join(shown) + "\n" == CHANGES
    whole = ["replay", script, "--format", "jsonl", "--query", "all_of_it", "--show", "final", "--input"]
    (answer,) = map(json.loads, lines(*whole, f"s={script.parent / name}"))
    assert answer["rows"] == [
        {"ts": "2026-01-31 07:00:01.500000", "b": 'y, "z"', "n": 2, "x": None, "ok": False, "d": None},
        {"ts": "2026-01-31 07:00:02", "b": None, "n": -3, "x": 1000.0, "ok": None, "d": "90 MINUTES"},
    ]


def test_changes_as_json_lines(script: Path) -> None:
    found = lines("replay", script, "--input", f"s={script.parent}/rows.csv", "--query", "busy", "--format", "jsonl")
    assert [json.loads(line) for line in found][:2] == [
        {"t": "2026-01-31 07:00:00", "sign": "+", "b": "x", "n": 1},
        {"t": "2026-01-31 07:00:01.500000", "sign": "+", "b": 'y, "z"', "n": 2},
    ]


def test_changes_as_csv(script: Path) -> None:
    found = lines("replay", script, "--input", f"s={script.parent}/rows.csv", "--query", "busy", "--format", "csv")
    assert list(csv.reader(io.StringIO("\n".join(found)))) == [
        ["t", "sign", "b", "n"],
        ["2026-01-31 07:00:00", "+", "x", "1"],
        ["2026-01-31 07:00:01.500000", "+", 'y, "z"', "2"],
        ["2026-01-31 07:00:02", "-", "x", "1"],
        ["2026-01-31 07:00:02", "+", "", "-3"],
    ]


def test_several_queries_are_distinguished(script: Path) -> None:
    args = ["replay", script, "--input", f"s={script.parent}/rows.csv"]
    named = [json.loads(line)["query"] for line in lines(*args, "--format", "jsonl")]
    assert set(named) == {"all_of_it", "busy"}
    table = lines(*args)
    assert [line for line in table if line.endswith(":")] == ["all_of_it:", "busy:"]
    assert "\n".join(table).endswith("busy:\n" + CHANGES.rstrip())
    assert refusal(*args, "--format", "csv") == (
        "error: CSV has one header, but there are several queries\n"
        "candidates: all_of_it, busy\n"
        "hint: choose one with --query, or use --format jsonl\n"
    )


def test_answers_in_every_format(script: Path) -> None:
    args = ["replay", script, "--input", f"s={script.parent}/rows.csv", "--query", "busy", "--show", "answers"]
    args += ["--until", "2026-01-31 07:00:04"]
    assert lines(*args)[-5:] == [
        "at 2026-01-31 07:00:03.500000: 1 row",
        "  b      n",
        "  NULL  -3",
        "",
        "at 2026-01-31 07:00:04: 0 rows",
    ]
    last = [json.loads(line) for line in lines(*args, "--format", "jsonl")][-2:]
    assert last == [
        {"t": "2026-01-31 07:00:03.500000", "rows": [{"b": None, "n": -3}]},
        {"t": "2026-01-31 07:00:04", "rows": []},
    ]
    assert lines(*args, "--format", "csv")[-1] == "2026-01-31 07:00:03.500000,,-3"


def test_names_that_repeat_get_numbers(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a,sign\n1,2,3\n")
    script = "CREATE STREAM s (a INT, sign INT); SELECT u.a, v.a, u.sign FROM s u [NOW], s v [NOW]"
    args = ["replay", "-", "--input", f"s={tmp_path}/s.csv", "--format"]
    assert lines(*args, "csv", stdin=script) == ["t,sign,a,a_2,sign_2", "1,+,2,2,3"]
    assert json.loads(lines(*args, "jsonl", stdin=script)[0]) == {"t": 1, "sign": "+", "a": 2, "a_2": 2, "sign_2": 3}


def test_an_ordered_answer_keeps_its_order(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a,b\n1,1,x\n1,3,y\n1,,z\n1,2,w\n1,3,v\n")
    script = "CREATE STREAM s (a INT, b STRING); SELECT * FROM s [RANGE 9] ORDER BY a DESC LIMIT 4"
    found = lines("replay", "-", "--input", f"s={tmp_path}/s.csv", "--show", "final", "--format", "csv", stdin=script)
    assert found == ["t,a,b", "1,3,v", "1,3,y", "1,2,w", "1,1,x"]


def test_queries_that_share_a_name_are_kept_apart(tmp_path: Path) -> None:
    """The second statement has no name, so it is called q2 by its place."""
    (tmp_path / "s.csv").write_text("ts,a\n1,7\n2,8\n")
    script = "CREATE STREAM s (a INT); REGISTER QUERY q2 AS SELECT a FROM s; SELECT a, a * 2 AS twice FROM s"
    args = ["replay", "-", "--input", f"s={tmp_path}/s.csv", "--show", "answers", "--format", "jsonl"]
    rows = [json.loads(line)["rows"] for line in lines(*args, stdin=script)]
    assert rows[1] == [{"a": 7}, {"a": 8}]
    assert rows[3] == [{"a": 7, "twice": 14}, {"a": 8, "twice": 16}]


def test_logs_of_connections(tmp_path: Path) -> None:
    (tmp_path / "conn.log").write_text(
        "#fields\tts\tid.orig_h\torig_bytes\n#types\ttime\taddr\tcount\n1.5\t::1\t5\n2\t::2\t-\nsoon\t::3\t1\n"
    )
    (tmp_path / "c.lbl").write_text("1.5 0 ftp 5 1 ::1 9.9.9.9 SF L\n2 0 ftp ? 1 ::2 9.9.9.9 SF\nsoon\n")
    for columns, name in [
        ("id_orig_h STRING, orig_bytes INT", "conn.log"),
        ("local_host STRING, bytes_orig INT", "c.lbl"),
    ]:
        script = f"CREATE STREAM c (ts TIMESTAMP, {columns}) TIMESTAMP BY ts; SELECT * FROM c [NOW]"
        args = ["replay", "-", "--input", f"c={tmp_path / name}", "--format", "csv", "--bad-rows"]
        printed = thalweg(*args, "skip", stdin=script)
        assert printed.stdout.splitlines()[1:] == [
            "1970-01-01 00:00:01.500000,+,1970-01-01 00:00:01.500000,::1,5",
            "1970-01-01 00:00:01.500001,-,1970-01-01 00:00:01.500000,::1,5",
            "1970-01-01 00:00:02,+,1970-01-01 00:00:02,::2,",
        ]
        assert "1 bad row" in printed.stderr
        assert f"{name}, line" in refusal(*args, "stop", stdin=script)
