"""`thalweg bench flow`: many queries in one eddy, against the same queries run by other approaches (MaddenEtAl2002)."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg_benchmarks.flows import niagara, scale, selections
from thalweg_benchmarks.result import Result


def run() -> Iterator[Result]:
    """Selections in one eddy and by other approaches, joins as in NiagaraCQ, then a hundred thousand queries."""
    yield from selections.run()
    yield from niagara.run()
    yield from scale.run()
