"""How Hypothesis runs, and in which order the workers of `pytest -n` take the tests.

Hypothesis runs without deadlines (machines are shared), and in CI with the same examples each time; `make fuzz` looks
for new ones.
"""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

SPARK = Path(__file__).parent / "runtime" / "spark"


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
    items[:] = [test for share in shares for test in share]
