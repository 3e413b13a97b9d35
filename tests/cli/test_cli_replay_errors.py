"""Would catch a mistake in files or options that is passed over, or reported without saying where and what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.run import lines, refusal, thalweg

SCRIPT = """\
CREATE STREAM conns (ts TIMESTAMP, src STRING, bytes INT, ok BOOLEAN) TIMESTAMP BY ts;
CREATE RELATION hosts (src STRING PRIMARY KEY);
REGISTER QUERY q AS SELECT src, bytes FROM conns [RANGE 1 SECOND];
"""
GOOD = "2026-01-31 07:00:00,x,1,t"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "conns.csv"
    path.write_text(f"ts,src,bytes,ok\n{GOOD}\n")
    return path


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("2026-01-31 07:00:00,x,many,t", "column bytes wants BIGINT, got 'many'"),
        ("2026-01-31 07:00:00,x,1.5,t", "column bytes wants BIGINT, got '1.5'"),
        ("2026-01-31 07:00:00,x,9223372036854775808,t", "column bytes wants BIGINT, got '9223372036854775808'"),
        ("2026-01-31 07:00:00,x,1,perhaps", "column ok wants BOOLEAN, got 'perhaps'\nhint: write true or false"),
        ("noon,x,1,t", "column ts wants TIMESTAMP, got 'noon'\nhint: write it as 2026-01-31 07:00:00 (ISO 8601)"),
        (",x,1,t", "the time of a row, ts, must not be NULL"),
        ("2026-01-31 07:00:00,x,1", "expected 4 cells as in the header, got 3"),
    ],
)
def test_a_bad_row_stops_or_is_skipped_and_counted(file: Path, row: str, complaint: str) -> None:
    file.write_text(f"ts,src,bytes,ok\n{GOOD}\n\n{row}\n{row}\n{GOOD}\n")
    args = ["replay", "-", "--input", f"conns={file}", "--format", "csv"]
    assert refusal(*args, stdin=SCRIPT) == f"error: {file}, line 4: {complaint}\n"
    result = thalweg(*args, "--bad-rows", "skip", stdin=SCRIPT)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == ["2026-01-31 07:00:00,+,x,1"] * 2
    first = complaint.split("\n")[0]
    assert result.stderr == f"2 bad rows skipped on conns, the first: {file}, line 4: {first}\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "this is not JSON: "),
        ("[1]", "expected a JSON object, got [1]"),
        ('{"ts": "2026-01-31", "bytes": "1"}', "column bytes wants BIGINT, got '1'"),
        ('{"ts": "2026-01-31", "src": {}}', "column src wants STRING, got {}"),
        ('{"ts": 253402300800000000}', "column ts wants TIMESTAMP, got 253402300800000000"),
        ('{"src": "x"}', "the time of a row, ts, must not be NULL"),
    ],
)
def test_bad_lines_of_json(tmp_path: Path, line: str, complaint: str) -> None:
    file = tmp_path / "conns.jsonl"
    file.write_text(f"\n{line}\n")
    args = ["replay", "-", "--input", f"conns={file}"]
    assert refusal(*args, stdin=SCRIPT).startswith(f"error: {file}, line 2: {complaint}")
    assert thalweg(*args, "--bad-rows", "skip", stdin=SCRIPT).exit_code == 0


def test_parquet_columns_must_have_the_declared_kind(tmp_path: Path) -> None:
    file = tmp_path / "conns.parquet"
    table = {"ts": pa.array([0], pa.timestamp("us")), "src": ["x"], "bytes": ["1"], "ok": [True]}
    pq.write_table(pa.table(table), file)
    error = refusal("replay", "-", "--input", f"conns={file}", stdin=SCRIPT)
    assert error == f"error: {file}: column bytes wants BIGINT, the file has string\n"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("conns.csv", "", " is empty\nhint: its first line must name the columns\n"),
        (
            "conns.csv",
            "ts,src,byte,ok\n",
            " has no column bytes\ncandidates: ts, src, byte, ok\nhint: did you mean byte?\n",
        ),
        (
            "conns.txt",
            "",
            ": cannot tell the format from the name\n"
            "candidates: .csv, .jsonl, .ndjson, .parquet, .log, .log.gz, .lbl, .lbl.gz\n",
        ),
    ],
)
def test_unusable_files(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    assert refusal("replay", "-", "--input", f"conns={file}", stdin=SCRIPT) == f"error: {file}{complaint}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("conns.csv", r"cannot read {file}, line 1: this is not UTF-8: \xff\xfe\x00rubbish"),
        ("conns.jsonl", r"{file}, line 1: this is not UTF-8: \xff\xfe\x00rubbish"),
        ("conns.parquet", "cannot read {file}: "),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path: Path, name: str, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"\xff\xfe\x00rubbish\n")
    said = refusal("replay", "-", "--input", f"conns={file}", stdin=SCRIPT)
    assert said.startswith("error: " + message.replace("{file}", str(file)))


def test_a_file_that_is_not_there(file: Path) -> None:
    missing = file.parent / "cons.csv"
    error = refusal("replay", "-", "--input", f"conns={missing}", stdin=SCRIPT)
    assert error == f"error: there is no file {missing}\nhint: did you mean conns.csv?\n"
    if sys.version_info < (3, 13):  # later Pythons read it as *
        assert "is no glob: " in refusal("replay", "-", "--input", f"conns={file.parent}/**x", stdin=SCRIPT)
    empty = file.parent / "empty"
    empty.mkdir()
    error = refusal("replay", "-", "--input", f"conns={empty}", stdin=SCRIPT)
    assert error.startswith(f"error: the folder {empty} has no input file\ncandidates: *.csv, ")


def test_inputs_must_name_a_stream_or_table(file: Path) -> None:
    assert refusal("replay", "-", "--input", f"cons={file}", stdin=SCRIPT) == (
        f"error: --input cons={file}: there is no stream or table called cons\n"
        "candidates: conns, hosts\n"
        "hint: did you mean conns?\n"
    )
    assert "there is no stream or table called q\n" in refusal("replay", "-", "--input", f"q={file}", stdin=SCRIPT)
    assert "expected NAME=PATH, got 'conns'" in refusal("replay", "-", "--input", "conns", stdin=SCRIPT)


def test_every_stream_of_the_chosen_queries_needs_an_input(file: Path) -> None:
    script = SCRIPT + "CREATE STREAM other (a INT); REGISTER QUERY o AS SELECT a FROM other"
    assert refusal("replay", "-", "--query", "q", stdin=script) == (
        "error: the stream conns has no input\nhint: add --input conns=PATH\n"
    )
    assert lines("replay", "-", "--query", "q", "--input", f"conns={file}", stdin=script)[0].startswith("t ")


def test_two_clocks_cannot_be_merged(file: Path) -> None:
    script = SCRIPT + "CREATE STREAM other (a INT); REGISTER QUERY o AS SELECT a FROM other"
    error = refusal("replay", "-", "--input", f"conns={file}", stdin=script)
    assert error.endswith("candidates: q, o\nhint: choose with --query\n")


def test_times_must_fit_the_clock(file: Path) -> None:
    args = ["replay", "-", "--input", f"conns={file}"]
    assert "expected a timestamp, got '5'" in refusal(*args, "--until", 5, stdin=SCRIPT)
    ticks = "CREATE STREAM conns (a INT); SELECT a FROM conns"
    assert refusal(*args, "--at", "noon", stdin=ticks) == "error: --at: expected an integer as time, got 'noon'\n"


def test_one_answer_or_many_but_not_both(file: Path) -> None:
    args = ["replay", "-", "--input", f"conns={file}", "--at", "2026-01-31 07:00:00"]
    assert "--at prints one answer" in refusal(*args, "--show", "changes", stdin=SCRIPT)
    assert "--at prints one answer" in refusal(*args, "--until", "2026-01-31", stdin=SCRIPT)


def test_an_error_in_the_script_has_a_caret() -> None:
    error = refusal("replay", "-", stdin="CREATE STREAM s (a INT);\nSELECT b FROM s")
    assert "  --> stdin:2:8\n2 | SELECT b FROM s\n  |        ^\n" in error
