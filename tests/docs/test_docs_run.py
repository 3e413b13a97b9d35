"""What the README, docstrings and docs show is what happens; would catch an example that has gone stale."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
MODULES = sorted(m.name for m in pkgutil.walk_packages(thalweg.__path__, "thalweg.") if not m.name.endswith("__main__"))


def run(command: str) -> str:
    program, *args = command.split()
    assert program == "thalweg"
    done = subprocess.run([sys.executable, "-m", program, *args], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/flows.md", "docs/grammar.md"])
def test_the_pages_python(page: str) -> None:
    results = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 5
    assert results.failed == 0


def test_the_readmes_commands() -> None:
    blocks = re.findall(r"```\n\$ (.+)\n((?:.|\n)*?)```", README)
    assert blocks
    for command, shown in blocks:
        assert run(command) == shown


def test_the_readmes_picture_of_the_demo() -> None:
    block = re.search(r"```\n(2026-01-31(?:.|\n)*?)```", README)
    assert block
    shown = [line.rstrip() for line in run("thalweg demo").splitlines()]
    picture = block[1].rstrip("\n").split("\n")
    start = shown.index(picture[0])
    assert shown[start : start + len(picture)] == picture


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_every_function_is_in_the_grammar() -> None:
    from thalweg.algebra.expressions import AGGREGATES
    from thalweg.cql.binder.functions import CALLABLE

    grammar = (ROOT / "docs" / "grammar.md").read_text()
    words = set(re.findall(r"[A-Z_0-9]+", grammar))
    operators = {"is_null", "is_distinct", "like"}  # written as IS NULL, IS DISTINCT FROM, LIKE
    assert {f.upper() for f in [*CALLABLE, *AGGREGATES] if f not in operators} <= words
