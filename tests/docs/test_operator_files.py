"""Would catch a file that must know every operator and is not listed, or that passes over a new operator in silence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from thalweg.algebra.plan import Plan

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "thalweg"
OPERATORS = {node.__name__ for node in get_args(Plan)}
MOST = 3  # operators that a match may leave to a default and still be one over all of them


def matches() -> Iterator[tuple[str, set[str], bool]]:
    """Each `match` over plans: its file, the operators it names, and whether it ends in `assert_never`."""
    for path in PACKAGE.rglob("*.py"):
        if "match " not in (text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Match):
                patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
                named = {p.cls.id for p in patterns if isinstance(p, ast.MatchClass) and isinstance(p.cls, ast.Name)}
                closed = ast.unparse(node.cases[-1]).startswith("case _:\n    assert_never(")
                yield path.relative_to(PACKAGE).as_posix(), named & OPERATORS, closed


def test_contributing_lists_the_files_with_a_case_for_every_operator() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (listed,) = re.findall(
        r"^These files have a case for every operator .*?:\n(.+?)\n\n", page, re.MULTILINE | re.DOTALL
    )
    found = {file for file, named, _ in matches() if named == OPERATORS}
    assert set(re.findall(r"`([^`]+)`", listed)) == found


def test_a_match_over_all_operators_has_no_default() -> None:
    """With a default, a new operator would be passed over in silence."""
    assert {file for file, named, closed in matches() if len(named) >= len(OPERATORS) - MOST and not closed} == set()
