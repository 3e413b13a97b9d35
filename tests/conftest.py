"""How hard the tests try (see strategies.effort), which are slow, and in which order pytest's workers take them."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

import pytest

import strategies.effort  # noqa: F401 - loads the Hypothesis profile
from thalweg.core.forgetting import FORGETTING

# Codes that nothing names are looked for between any two batches, so that one that is freed too early shows.
FORGETTING.every_batch = os.environ.get("THALWEG_FORGET", "always") == "always"

TESTS = Path(__file__).parent
SPARK = TESTS / "runtime" / "spark"
SLOW = (SPARK, TESTS / "runtime" / "distributed", TESTS / "faults", TESTS / "docs", TESTS / "golden", TESTS / "release")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deal out whole files, those that use Spark first, one to each worker in turn.

    With `--dist worksteal` each worker begins with an equal share of the list, in its order, and takes tests from the
    end of another's when it has done its own. So Spark's long tests are spread, and short tests even out the rest.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    files.sort(key=lambda tests: SPARK not in tests[0].path.parents)
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, tests in enumerate(files):
        shares[number % workers] += tests
        if any(folder in tests[0].path.parents for folder in SLOW):
            for test in tests:
                test.add_marker(pytest.mark.slow)
    items[:] = [test for share in shares for test in share]
