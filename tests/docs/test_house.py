"""Would catch a class name that stands for two things, a page that names a missing file, and retired words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "thalweg"
# A logical operator of algebra/plan and the operator of the kernel that runs it may share a name.
LOGICAL, PHYSICAL = "algebra/plan/", "kernel/"
PAGES = ["CONTRIBUTING.md", *(f"docs/{page}.md" for page in ("architecture", "kernel", "papers", "row-on-spark"))]
# Words of our own that gave way to the field's (docs/glossary.md), as names in code.
RETIRED = [
    "told",
    "parcel",
    "parcels",
    "outbox",
    "aside",
    "birth",
    "newborn",
    "tally",
    "whose",
    "seed000",
    "decided",
    "learned",
]


def classes() -> Iterator[tuple[str, str]]:
    """All public classes with their files."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path.relative_to(PACKAGE).as_posix()


def names(path: Path) -> Iterator[str]:
    """All names that a file defines: classes, functions, arguments, variables, attributes."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def test_a_public_class_name_stands_for_one_thing() -> None:
    found = defaultdict(list)
    for name, file in classes():
        found[name].append(file)
    twice = {name: files for name, files in found.items() if len(files) > 1}
    twins = {
        name
        for name, files in twice.items()
        if len(files) == 2 and any(f.startswith(LOGICAL) for f in files) and any(f.startswith(PHYSICAL) for f in files)
    }
    assert {name: files for name, files in twice.items() if name not in twins} == {}


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text()
    paths = set(re.findall(r"`((?:[a-z_]+/)+(?:[\w-]+\.(?:py|md|txt))?)`", text))
    bases = (ROOT, PACKAGE, PACKAGE / "runtime", PACKAGE / "runtime" / "distributed", PACKAGE / "runtime" / "spark")
    assert {path for path in paths if not any((base / path).exists() for base in bases)} == set()


def hops() -> list[tuple[int, str, str]]:
    """The numbered lines of the page about a row's way: number, function, file."""
    text = (ROOT / "docs" / "row-on-spark.md").read_text()
    found = re.findall(r"\| (\d+) +([\w.]+) +([\w./]+\.py)", text)
    return [(int(number), name, file) for number, name, file in found]


def functions(path: Path) -> set[str]:
    """The functions of a file, and the methods of its classes as `Class.method`."""
    tree = ast.parse(path.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {f"{c.name}.{node.name}" for c in classes for node in c.body if isinstance(node, ast.FunctionDef)}
    return methods | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_rows_way_on_spark_is_as_its_page_says() -> None:
    numbers = [number for number, _, _ in hops()]
    assert numbers == list(range(1, len(numbers) + 1))
    missing = [(name, file) for _, name, file in hops() if name not in functions(PACKAGE / "runtime" / file)]
    assert missing == []


def test_a_row_of_one_stage_makes_at_most_18_hops() -> None:
    page = (ROOT / "docs" / "row-on-spark.md").read_text()
    (stated,) = re.findall(r"A row of a query with one stage makes (\d+) hops", page)
    assert 0 < len(hops()) == int(stated) <= 18


def test_no_hop_is_in_a_file_that_the_page_does_not_count() -> None:
    assert [file for _, _, file in hops() if file.startswith("distributed/exchange/")] == []
    steps = [file for _, _, file in hops()]
    assert all(file != following for file, following in pairwise(steps))


@pytest.mark.parametrize("word", RETIRED)
def test_words_that_were_retired_do_not_come_back(word: str) -> None:
    used = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in names(path)
        if name.strip("_").casefold() == word
    }
    assert used == set()


def test_only_the_engine_on_spark_imports_pyspark() -> None:
    """import-linter checks the packages that its contract lists; this walks all files, new packages included."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names])
        if module.split(".")[0] in ("pyspark", "py4j")
    }
    assert found and all(file.startswith("runtime/spark/") for file in found)


def test_papers_are_cited_by_keys_of_the_bibliography() -> None:
    known = set(re.findall(r"^\| (\w+?\d{4}) \|", (ROOT / "docs" / "papers.md").read_text(), re.MULTILINE))
    cited = {
        key
        for path in PACKAGE.rglob("*.py")
        for key in re.findall(r"\b[A-Z][a-z]+(?:[A-Z][A-Za-z]+)?(?:19|20)\d\d\b", path.read_text())
    }
    assert cited and cited <= known
