"""The state of queries that run for long: it is what windows hold, whatever has passed."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg_benchmarks.result import Result
from thalweg_benchmarks.state import pools, restoring, windows


def run(quick: bool = False) -> Iterator[Result]:
    """All ratios; `quick` takes a tenth of the rows."""
    yield from windows.run(quick)
    yield from pools.run(quick)
    yield from restoring.run(quick)
