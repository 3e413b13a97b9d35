"""Would catch a line without end that takes all memory, a long line that vanishes, and numbers of lines that shift."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from cli.run import lines as printed
from cli.run import refusal, thalweg
from formats.whole import whole
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.formats import read_lbl, read_zeek, zeek_schema
from thalweg.formats.lines import read_blocks

SCHEMA = Schema.of(ts=DataType.TIMESTAMP, a=DataType.STRING)
HEADER = "#fields\tts\ta\n#types\ttime\tstring\n"
LONG = "x" * 5_000


@pytest.mark.parametrize("name", ["a.log", "a.log.gz"])
@pytest.mark.parametrize("block", [100, 3_000, 100_000])
@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_long_line_is_a_bad_line_and_the_others_keep_their_numbers(
    tmp_path: Path, name: str, block: int, kind: str
) -> None:
    if kind == "text":
        head, rows = HEADER, [f"1\t{'y' * 100}", f"2\t{LONG}", "3\tz", LONG, "5\tw"]
    else:
        head, rows = "", [f'{{"ts": {i + 1}, "a": "{a}"}}' for i, a in enumerate(["y" * 100, LONG, "z", LONG, "w"])]
    data = (head + "\n".join(rows)).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    table, numbers, bad = whole(read_zeek(str(tmp_path / name), SCHEMA, block, longest_line=1_000))
    above = head.count("\n")
    assert numbers == [above + 1, above + 3, above + 5]
    assert table.column("a").to_pylist() == ["y" * 100, "z", "w"]
    assert [b.line for b in bad] == [above + 2, above + 4]
    assert all("bytes, and at most 1,000 are read" in b.reason and len(b.text) < 300 for b in bad)
    assert f"the line has {len(rows[1]):,} bytes" in bad[0].reason


def test_a_line_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 10 + "\n" + "y" * 11 + "\n" + "z" * 10)
    for size in (1, 4, 10, 11, 100):
        blocks = list(read_blocks(str(tmp_path / "a"), size, longest=10))
        texts = {block.first + i: block.text(i) for block in blocks for i in range(len(block.ends))}
        assert texts == {1: "x" * 10, 2: "", 3: "z" * 10}
        assert [bad.line for block in blocks for bad in block.bad] == [2]


def test_lbl_has_the_limit_too(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"1 0.5 ftp 5 ? 3 9.9.9.9 SF L\n{LONG}\n2 ? smtp 5 7 3 9.9.9.9 REJ\n")
    table, numbers, bad = whole(read_lbl(str(tmp_path / "a"), longest_line=1_000))
    assert (table.num_rows, numbers, [b.line for b in bad]) == (2, [1, 3], [2])
    assert bad[0].text.startswith("xxx")


def test_a_file_of_one_long_line_is_one_bad_line(tmp_path: Path) -> None:
    for start in ("{", "#", "x"):
        (tmp_path / "a.log").write_text(start + LONG)
        _, _, bad = whole(read_zeek(str(tmp_path / "a.log"), SCHEMA, longest_line=1_000))
        assert [b.line for b in bad] == [1]


BOUNDED = """
import resource, sys
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.formats import read_zeek
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
schema = Schema.of(ts=DataType.TIMESTAMP, a=DataType.STRING)
chunks = [(chunk.table.num_rows, len(chunk.bad)) for chunk in read_zeek(sys.argv[1], schema)]
rows, bad = (sum(column) for column in zip(*chunks))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(rows, bad, (after - before) // 1024)
"""


def test_memory_is_bounded_by_the_limit_and_not_by_the_line(tmp_path: Path) -> None:
    """400 MB in one line, in a .gz of less than one: far less memory than that."""
    path = tmp_path / "a.log.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(HEADER.encode() + b"1\ta\n2\t")
        for _ in range(400):
            file.write(b"x" * 2**20)
        file.write(b"\n3\tb\n")
    done = subprocess.run([sys.executable, "-c", BOUNDED, str(path)], capture_output=True, text=True, check=True)
    rows, bad, megabytes = map(int, done.stdout.split())
    assert (rows, bad) == (2, 1)
    assert megabytes < 150


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_replay_skips_lines_that_are_too_long_or_no_utf8(tmp_path: Path, kind: str) -> None:
    (tmp_path / "q.cql").write_text("CREATE STREAM s (a STRING); REGISTER QUERY q AS SELECT a FROM s [RANGE 1];")
    good = {"csv": "{},{}\n", "jsonl": '{{"ts": {}, "a": "{}"}}\n'}[kind]
    path = tmp_path / f"s.{kind}"
    with path.open("wb") as file:
        file.write(b"ts,a\n" if kind == "csv" else b"")
        file.write(good.format(1, "x").encode())
        file.write(good.format(2, "?").encode().replace(b"?", b"\xff\xfe"))
        file.write(good.format(3, "y" * (17 * 2**20)).encode())
        file.write(good.format(4, "z").encode())
    args = ["replay", tmp_path / "q.cql", "--input", f"s={path}", "--format", "csv"]
    said = refusal(*args[:-2])
    number = 3 if kind == "csv" else 2
    assert f"line {number}: this is not UTF-8" in said and r"\xff\xfe" in said
    found = printed(*args, "--bad-rows", "skip")
    assert [line for line in found if ",+," in line] == ["1,+,x", "4,+,z"]
    assert "2 bad rows skipped on s" in thalweg(*args, "--bad-rows", "skip").stderr


@pytest.mark.parametrize("line", ["#unset_field", "#empty_field", "#separator"])
def test_a_header_line_without_a_value_keeps_the_default(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.log").write_text(f"{line}\n{HEADER}1\t-\n2\t(empty)\n")
    table, _, bad = whole(read_zeek(str(tmp_path / "a.log"), SCHEMA))
    assert (table.column("a").to_pylist(), bad) == ([None, ""], [])


def test_a_header_that_cannot_be_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("#separator ab\n#fieldsabtsaba\n1ab2\n")
    with pytest.raises(DataError, match="#separator wants one character, got 'ab'"):
        list(read_zeek(str(tmp_path / "a.log"), SCHEMA))
    (tmp_path / "b.log").write_text("#fields\tts\ta\n#types\ttime\n")
    with pytest.raises(DataError, match="#types and #fields differ in length"):
        zeek_schema(str(tmp_path / "b.log"))
