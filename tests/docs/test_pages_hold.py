"""Would catch a page whose tables, tests, scenarios or messages are not those of the program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from cli.run import lines
from thalweg.patterns import Pattern
from thalweg.patterns.buffer_kinds import BY_EXPIRY

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PATTERNS = {pattern.name for pattern in Pattern}
DECLARED = """
    CREATE STREAM s (a INT); CREATE STREAM t (a INT);
    CREATE NRR nrr (k INT PRIMARY KEY); CREATE RELATION rel (k INT PRIMARY KEY);
    CREATE VIEW mon AS SELECT a FROM t;
    CREATE VIEW X_MON AS SELECT a FROM s;
    CREATE VIEW X_WKS AS SELECT a FROM s [RANGE 10];
    CREATE VIEW X_WK AS SELECT DISTINCT a FROM s [RANGE 10];
    CREATE VIEW X_STR AS SELECT a FROM s [RANGE 10] EXCEPT ALL SELECT a FROM t [RANGE 10]
"""


def table(page: str, header: str) -> list[list[str]]:
    """The cells of the table whose first line begins so."""
    text = (DOCS / page).read_text().partition(f"\n| {header}")[2]
    body = text.partition("\n|---")[2].partition("\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in body.splitlines()]


def pattern(cql: str) -> str:
    session = tw.local()
    session.execute(DECLARED)
    try:
        return session.query(cql).patterns.name
    except tw.ThalwegError:
        return "refused"


@pytest.mark.parametrize("row", table("update-patterns.md", "operator |"), ids=lambda row: str(row[0]))
def test_what_an_operator_makes_of_a_pattern(row: list[str]) -> None:
    name, example, *said = row
    assert said == [pattern(example.strip("`").replace("X", f"X_{p.name}", 1)) for p in Pattern], name


def test_the_patterns_have_their_names_and_meanings() -> None:
    rows = {row[0]: row[1:] for row in table("update-patterns.md", "pattern |")}
    assert {p.name: p.full_name for p in Pattern} == {name: row[0] for name, row in rows.items()}
    assert all(rows[p.name][1].startswith(p.meaning) for p in Pattern)


def test_the_buffers_are_those_of_the_code() -> None:
    said = {
        (expiry, expiry_order): (kind, why)
        for expiry, expiry_order, kind, why in table("update-patterns.md", "the end of")
    }
    assert said == {(e.name, order.name): (kind.value, why) for (e, order), (kind, why) in BY_EXPIRY.items()}


def test_the_windows_have_the_patterns_that_are_said() -> None:
    numbers = {"w": "4", "b": "2", "n": "3", "m": "2", "x": "3", "y": "5", "k": "a"}
    for window, _, leave in table("windows.md", "window |"):
        [text] = re.findall(r"`\[(.+?)\]`", window)
        cql = re.sub(r"\b[wbnmxyk]\b", lambda found: numbers[found[0]], text)
        said = [word for word in re.findall(r"[A-Z]+", leave) if word in PATTERNS] or ["WKS"]  # "as without"
        assert pattern(f"SELECT a FROM s [{cql}]") == said[0], window


def test_every_form_of_a_window_is_drawn() -> None:
    page = (DOCS / "windows.md").read_text()
    forms = {re.sub(r"'.*?'|\d+|\b[a-z]\b", "_", w) for w in re.findall(r'timeline\("(.+?)"', page)}
    assert forms == {
        "NOW", "RANGE _", "RANGE _ SLIDE _", "RANGE _ SLIDE _ START AT _", "RANGE _ ON _", "ROWS _", "ROWS _ SLIDE _",
        "PARTITION BY _ ROWS _", "PARTITION BY _ ROWS _ RANGE _", "PARTITION BY _ ROWS _ RANGE _ SLIDE _",
        "UNBOUNDED START AT _", "UNTIL _", "FROM _ UNTIL _", "RANGE UNBOUNDED",
    }  # fmt: skip


def test_the_tests_that_are_shown_pass() -> None:
    code = re.findall(r"```python\n((?:.|\n)*?)```", (DOCS / "howto" / "testing.md").read_text())[0]
    names: dict[str, Any] = {}
    exec(code.replace("@pytest.fixture\n", ""), names)
    tests = [name for name in names if name.startswith("test_")]
    assert len(tests) == 2
    for name in tests:
        names[name](names["s"]())


def test_the_scenario_that_is_shown_passes(tmp_path: Path) -> None:
    [text] = re.findall(r"```scenario\n((?:.|\n)*?)```", (DOCS / "howto" / "testing.md").read_text())
    (tmp_path / "attacks.scenario").write_text(text)
    assert lines("scenario", tmp_path / "attacks.scenario")[-1] == "1 passed, 0 failed"


def test_messages_about_checkpoints_are_the_program_s_own() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "src" / "thalweg" / "runtime").rglob("*.py"))
    for message, _ in table("operations.md", "message |"):
        for piece in message.strip("`").split("…"):
            assert piece.strip() in source, message
