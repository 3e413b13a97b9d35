"""How hard tests try (see strategies.effort), which are slow, the order in which workers take them, and one Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import strategies.effort  # noqa: F401 - loads the Hypothesis profile
from thalweg.core.forgetting import FORGETTING

# Codes that nothing names are looked for between any two batches, so that one that is freed too early shows.
FORGETTING.every_batch = os.environ.get("THALWEG_FORGET", "always") == "always"

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parent
SPARK = (TESTS / "runtime" / "spark", TESTS / "cli" / "spark")
SLOW = (
    *SPARK,
    TESTS / "runtime" / "distributed",
    TESTS / "faults",
    TESTS / "docs",
    TESTS / "golden",
    TESTS / "release",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deal out whole files, those that use Spark first, one to each worker in turn.

    With `--dist worksteal` each worker begins with an equal share of the list, in its order, and takes tests from the
    end of another's when it has done its own. So Spark's long tests are spread, and short tests even out the rest.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    files.sort(key=lambda tests: not _is_in(SPARK, tests[0].path))
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, tests in enumerate(files):
        shares[number % workers] += tests
        if _is_in(SLOW, tests[0].path):
            for test in tests:
                test.add_marker(pytest.mark.slow)
    items[:] = [test for share in shares for test in share]


def _is_in(folders: tuple[Path, ...], path: Path) -> bool:
    return any(folder in path.parents for folder in folders)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark for each test process, for all tests that ask for it."""
    from runtime.spark.session import local_session  # only here: most runs of the tests need no PySpark

    with local_session(tmp_path_factory.mktemp("spark")) as session:
        yield session
