"""Would catch a value that steers the terminal of the person who looks at it, or output that is no longer exact."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from cli.run import SOURCES, lines, refusal, thalweg
from thalweg.cli.demo.frames import draw, frames
from thalweg.cli.output import Answer
from thalweg.core.errors import DataError
from thalweg.core.visible import visible, visible_json, visible_lines
from thalweg.runtime.local import Session

EVIL = "a\x1b[2J\x07\x9b1m\x7f\u202eb\u2066\u200f"
SHOWN = r"a\x1b[2J\x07\x9b1m\x7f\u202eb\u2066\u200f"
STEERING = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *"\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028"]
SCRIPT = "CREATE STREAM s (a STRING); REGISTER QUERY q AS SELECT a FROM s [RANGE 1];"


@pytest.fixture
def script(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "q.cql").write_text(SCRIPT)
    (tmp_path / "s.jsonl").write_text(json.dumps({"ts": 1, "a": EVIL}) + "\n")
    return tmp_path / "q.cql", tmp_path / "s.jsonl"


@pytest.mark.parametrize("character", STEERING)
def test_every_steering_character_is_shown_as_an_escape(character: str) -> None:
    for text in (visible(character), json.loads(json.dumps(visible(character)))):
        assert text.isascii() and text.isprintable() and text.startswith("\\")
    assert visible_lines(character) == (character if character in "\t\n" else visible(character))
    quoted = json.dumps(character, ensure_ascii=False)
    assert json.loads(visible_json(quoted)) == character


def test_letters_of_all_scripts_stay() -> None:
    text = "Zürich 東京 שלום \\x1b 🙂"
    assert visible(text) == visible_lines(text) == text


@pytest.mark.parametrize("show", ["changes", "answers", "final"])
def test_a_table_shows_escapes_and_stays_aligned(script: tuple[Path, Path], show: str) -> None:
    cql, rows = script
    shown = "\n".join(lines("replay", cql, "--input", f"s={rows}", "--show", show, "--until", "1"))
    assert SHOWN in shown
    assert "\x1b" not in shown and visible_lines(shown) == shown


def test_json_and_csv_are_exact(script: tuple[Path, Path]) -> None:
    cql, rows = script
    args = ["replay", cql, "--input", f"s={rows}", "--limit", 1, "--format"]
    (line,) = lines(*args, "jsonl")
    assert json.loads(line)["a"] == EVIL
    assert visible_json(line) == line  # harmless in a terminal, too
    found = list(csv.reader(io.StringIO(thalweg(*args, "csv").stdout)))
    assert found[1] == ["1", "+", EVIL]


def test_csv_on_a_terminal_shows_escapes(script: tuple[Path, Path]) -> None:
    cql, rows = script
    us, theirs = pty.openpty()
    words = ["replay", str(cql), "--input", f"s={rows}", "--limit", "1", "--format", "csv"]
    run = "import sys; from thalweg.cli.main import main; main(sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    subprocess.run([sys.executable, "-c", run, *words], stdout=theirs, check=True, env=environment)
    assert SHOWN.encode() in os.read(us, 4096)
    os.close(us)
    os.close(theirs)


def test_an_error_that_quotes_data_shows_escapes(tmp_path: Path, script: tuple[Path, Path]) -> None:
    cql, _ = script
    (tmp_path / "s.csv").write_text(f"ts,a\n{EVIL},x\n", encoding="utf-8")
    said = refusal("replay", cql, "--input", f"s={tmp_path / 's.csv'}")
    assert r"\x1b[2J" in said and "\x1b" not in said
    assert "\x1b" not in str(DataError(f"got {EVIL}", candidates=[EVIL], hint=EVIL))


def test_the_caret_and_names_of_a_query_show_escapes(tmp_path: Path) -> None:
    (tmp_path / "q.cql").write_text(f"{SCRIPT}\nSELECT '\x1b[2J', nothing FROM s [RANGE 1];")
    said = refusal("replay", tmp_path / "q.cql")
    assert r"\x1b[2J" in said and "\x1b" not in said


def test_a_demo_frame_and_a_flow_show_escapes(tmp_path: Path) -> None:
    session = Session()
    (query,) = session.execute(SCRIPT)
    console = Console(file=io.StringIO(), width=200, markup=False)
    for frame in frames([Answer(query, 1, [(EVIL,)]), Answer(query, 2, [])], [query]):
        console.print(draw(frame))
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert SHOWN in out and out.count(r"a\x1b[2J\x07") == 2 and "\x1b" not in out
    lines("flow", "add", tmp_path / "flow", "SELECT '\x1b' AS a FROM s [RANGE 1]", "--name", "n\x1b")
    for words in (["list"], ["list", "--json"]):
        assert "\x1b" not in "\n".join(lines("flow", words[0], tmp_path / "flow", *words[1:]))
