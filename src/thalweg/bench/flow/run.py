"""All of `thalweg bench flow`."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.bench.flow import niagara, scale, selections
from thalweg.bench.result import Result


def run() -> Iterator[Result]:
    """Selections in one eddy against other ways, joins against NiagaraCQ's plans, then a hundred thousand queries."""
    yield from selections.run()
    yield from niagara.run()
    yield from scale.run()
