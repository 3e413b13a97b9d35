"""Would catch a class name that stands for two things, a page that names a missing file, and retired words."""

from __future__ import annotations

import ast
import functools
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
CODE = [ROOT / folder for folder in ("src", "tests", "benchmarks", "examples")]
# Words of our own that gave way to the field's (docs/glossary.md). No name in code has one of them as a part.
RETIRED = [
    "told",
    "parcel",
    "parcels",
    "outbox",
    "aside",
    "birth",
    "newborn",
    "tally",
    "decided",
    "learned",
    "lying",
    "turn",
    "turns",
    "way",
    "ways",
    "whose",
    *(f"seed00{number}" for number in range(5)),
]
# Parts of names that are plain English or the field's: a hint, joins, a row's way on Spark, relative clauses,
# "A turns B into C".
ALLOWED = re.compile(r"way_out|(?:multi|six)_way|rows_way|(?<=[a-z]_)whose(?=_[a-z])|turns_[a-z]+_into")
# A retired word in a file, as a word of its own or as a part of a name such as `_is_told`, `IsTold` or `IS_TOLD`.
SUSPECT = re.compile(
    rf"(?<![a-z])(?:{'|'.join(RETIRED)})(?![a-z])"
    rf"|(?:{'|'.join(RETIRED).title()})(?![a-z])"
    rf"|(?<![A-Z])(?:{'|'.join(RETIRED).upper()})(?![A-Z])"
)


@functools.cache
def text(path: Path) -> str:
    """A file, read once for all tests."""
    return path.read_text()


def classes() -> Iterator[tuple[str, str]]:
    """All public classes with their files."""
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"^ *class ([A-Za-z]\w*)", text(path), re.MULTILINE):
            yield name, path.relative_to(PACKAGE).as_posix()


def names(path: Path) -> Iterator[str]:
    """The names of a file that has a retired word: its own, classes, functions, arguments, variables, attributes."""
    yield path.stem.replace("-", "_")
    if not SUSPECT.search(text(path)):  # to parse every file takes long
        return
    for node in ast.walk(ast.parse(text(path))):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def words(name: str) -> set[str]:
    """The words of a name: `_tuples_told`, `TuplesTold` and `TUPLES_TOLD` have the same two."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold().split("_"))


@functools.cache
def names_by_word() -> dict[str, set[str]]:
    """For each word, the names that have it as a part, with their files; scenarios count by their files' names."""
    found = defaultdict(set)
    scenarios = ((path, path.stem.replace("-", "_")) for path in (ROOT / "tests" / "scenarios").glob("*.scenario"))
    defined = ((path, name) for folder in CODE for path in folder.rglob("*.py") for name in names(path))
    for path, name in [*scenarios, *defined]:
        for word in words(ALLOWED.sub("", name)):
            found[word].add(f"{path.relative_to(ROOT)}: {name}")
    return found


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
    paths = set(re.findall(r"`((?:[a-z_]+/)+(?:[\w-]+\.(?:py|md|txt))?)`", text(ROOT / page)))
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
    assert names_by_word().get(word, set()) == set()


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
        for key in re.findall(r"\b[A-Z][a-z]+(?:[A-Z][A-Za-z]+)?(?:19|20)\d\d\b", text(path))
    }
    assert cited and cited <= known
