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


DOCTESTED = [
    "README.md",
    "docs/flows.md",
    "docs/grammar.md",
    "docs/tutorial.md",
    "docs/update-patterns.md",
    "docs/windows.md",
    *(f"docs/howto/{page}.md" for page in ("joins", "many-queries", "tables", "testing", "windows")),
]


# All pages but those that the site copies from elsewhere.
DOCS = [page for page in (ROOT / "docs").rglob("*.md") if not {"outside", "_site"} & {*page.parts}]


@pytest.mark.parametrize("page", DOCTESTED)
def test_the_pages_python(page: str) -> None:
    flags = 0 if page == "docs/windows.md" else doctest.NORMALIZE_WHITESPACE  # drawings count every space
    results = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=flags)
    assert results.attempted > 5
    assert results.failed == 0


def test_every_page_with_doctests_is_run() -> None:
    pages = [ROOT / "README.md", *DOCS]
    assert {str(page.relative_to(ROOT)) for page in pages if "\n>>> " in page.read_text()} == set(DOCTESTED)


def test_python_that_is_only_shown_is_python() -> None:
    for page in [ROOT / "README.md", *DOCS]:
        for block in re.findall(r"```python\n((?:.|\n)*?)```", page.read_text()):
            if not block.startswith(">>> "):
                compile(block, str(page.relative_to(ROOT)), "exec")


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
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_links_into_pages_lead_to_a_heading() -> None:
    for page in [ROOT / "README.md", *DOCS]:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
            text = (page.parent / target if target else page).read_text()
            headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            named = set(re.findall(r'<a id="(.+?)">', text))
            known = named | {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in known, f"{page.name} -> {target}#{anchor}"


def test_every_page_is_in_the_index() -> None:
    folder = ROOT / "docs"
    index = {
        (folder / target).resolve() for target in re.findall(r"\]\(([^)#:]+)\)", (folder / "README.md").read_text())
    }
    pages = {*folder.glob("*.md"), *folder.glob("howto/*.md"), *folder.glob("*/README.md"), folder / "api" / "index.md"}
    missing = pages - index - {folder / "README.md", folder / "index.md"}
    assert {str(page.relative_to(folder)) for page in missing} == set()


def test_every_function_is_in_the_grammar() -> None:
    from thalweg.algebra.expressions import AGGREGATES
    from thalweg.cql.binder.functions import CALLABLE

    grammar = (ROOT / "docs" / "grammar.md").read_text()
    words = set(re.findall(r"[A-Z_0-9]+", grammar))
    operators = {"is_null", "is_distinct", "like"}  # written as IS NULL, IS DISTINCT FROM, LIKE
    assert {f.upper() for f in [*CALLABLE, *AGGREGATES] if f not in operators} <= words
