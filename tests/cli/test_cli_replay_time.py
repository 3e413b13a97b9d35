"""Would catch inputs merged in the wrong order, rows lost at an end of time, and late rows dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.run import lines, refusal, thalweg

COUNT = "CREATE STREAM s (a INT) LATENESS 3; SELECT a, COUNT(*) AS n FROM s [RANGE 10] GROUP BY a"
WINDOW = "CREATE STREAM s (a INT); SELECT a FROM s [RANGE 3]"


def test_several_streams_are_merged_by_time(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a\n1,1\n3,3\n5,1\n")
    (tmp_path / "r.jsonl").write_text('{"ts": 2, "a": 1}\n{"ts": 4, "a": 3}\n')
    script = (
        "CREATE STREAM s (a INT); CREATE STREAM r (a INT); SELECT s.a FROM s [RANGE 3], r [RANGE 3] WHERE s.a = r.a"
    )
    args = ["--input", f"s={tmp_path}/s.csv", "--input", f"R={tmp_path}/r.jsonl", "--format", "csv", "--until", 9]
    # s: 1 in [1,4), 3 in [3,6), 1 in [5,8); r: 1 in [2,5), 3 in [4,7)
    assert lines("replay", "-", *args, stdin=script) == ["t,sign,a", "2,+,1", "4,-,1", "4,+,3", "6,-,3"]


def test_files_of_one_stream_are_merged_too(tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    (folder / "b.csv").write_text("ts,a\n2,2\n4,4\n")
    (folder / "a.csv").write_text("ts,a\n1,1\n4,3\n")
    (folder / "notes.txt").write_text("not an input")
    script = "CREATE STREAM s (a INT); SELECT a FROM s [ROWS 1]"
    expected = ["t,sign,a", "1,+,1", "2,-,1", "2,+,2", "4,-,2", "4,+,4"]
    for path in (folder, f"{folder}/*.csv", f"{tmp_path}/*/[ab].csv"):
        assert lines("replay", "-", "--input", f"s={path}", "--format", "csv", stdin=script) == expected
    both = ["--input", f"s={folder}/a.csv", "--input", f"s={folder}/b.csv"]
    assert lines("replay", "-", *both, "--format", "csv", stdin=script) == expected


def test_late_rows_are_counted_and_others_find_their_place(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a\n5,1\n9,1\n6,1\n5,7\n4,7\n9,1\n")
    result = thalweg("replay", "-", "--input", f"s={tmp_path}/s.csv", "--format", "csv", stdin=COUNT)
    assert result.exit_code == 0
    assert result.stderr == "2 late rows on s\n"
    assert result.stdout.splitlines() == ["t,sign,a,n", "5,+,1,1", "6,-,1,1", "6,+,1,2", "9,-,1,2", "9,+,1,4"]


def test_without_lateness_a_row_out_of_order_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a\n5,1\n4,1\n")
    error = refusal("replay", "-", "--input", f"s={tmp_path}/s.csv", stdin=WINDOW)
    assert error.startswith(f"error: {tmp_path}/s.csv, line 3: stream s is at 5; a row of 4 comes too late\nhint: ")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["t,sign,a", "1,+,1", "2,+,2", "4,-,1", "4,+,4"]),
        (("--until", 3), ["t,sign,a", "1,+,1", "2,+,2"]),
        (("--until", 8), ["t,sign,a", "1,+,1", "2,+,2", "4,-,1", "4,+,4", "5,-,2", "7,-,4"]),
        (("--limit", 3), ["t,sign,a", "1,+,1", "2,+,2", "4,-,1"]),
        (("--show", "answers"), ["t,a", "1,1", "2,1", "2,2", "4,2", "4,4"]),
        (("--show", "answers", "--limit", 2), ["t,a", "1,1", "2,1", "2,2"]),
        (("--show", "final"), ["t,a", "4,2", "4,4"]),
        (("--show", "final", "--until", 6), ["t,a", "6,4"]),
        (("--at", 3), ["t,a", "3,1", "3,2"]),
        (("--at", 6), ["t,a", "6,4"]),
        (("--at", -1), ["t,a"]),
    ],
)
def test_what_is_shown(tmp_path: Path, options: tuple[object, ...], expected: list[str]) -> None:
    (tmp_path / "s.csv").write_text("ts,a\n1,1\n2,2\n4,4\n")
    args = ["--input", f"s={tmp_path}/s.csv", "--format", "csv"]
    assert lines("replay", "-", *args, *options, stdin=WINDOW) == expected


def test_an_empty_input_still_has_an_answer_at_an_end_of_time(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a\n")
    script = "CREATE STREAM s (a INT); SELECT COUNT(*) AS n FROM s"
    args = ["replay", "-", "--input", f"s={tmp_path}/s.csv"]
    assert lines(*args, "--until", 7, "--format", "csv", stdin=script) == ["t,sign,n", "7,+,0"]
    result = thalweg(*args, stdin=script)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "--show final" in result.stderr
    assert lines(*args, "--show", "final", stdin=script) == ["at the beginning: 1 row", "  n", "  0"]


def test_the_time_may_have_another_name(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a,when\n9,1,1\n9,2,2\n")
    args = ["--input", f"s={tmp_path}/s.csv", "--time", "When", "--format", "csv"]
    assert lines("replay", "-", *args, stdin=WINDOW) == ["t,sign,a", "1,+,1", "2,+,2"]


def test_a_declared_ts_serves_as_time_and_as_column(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("ts,a\n4,1\n")
    script = "CREATE STREAM s (a INT, ts INT); SELECT ts, a FROM s"
    args = ["--input", f"s={tmp_path}/s.csv", "--format", "csv"]
    assert lines("replay", "-", *args, stdin=script) == ["t,sign,ts,a", "4,+,4,1"]
