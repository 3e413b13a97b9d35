"""The cases of `thalweg bench joins` (seed 004, section 6)."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.bench.joins.methods import methods
from thalweg.bench.joins.orders import orders
from thalweg.bench.joins.trees import trees
from thalweg.bench.result import Result


def run() -> Iterator[Result]:
    """Orders that are chosen while a join runs, how partners are found, and binary joins instead."""
    yield from orders()
    yield from methods()
    yield from trees()
