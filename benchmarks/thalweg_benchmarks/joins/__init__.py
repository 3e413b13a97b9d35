"""`thalweg bench joins`: multi-way joins (GolabOzsu2003 §6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from thalweg_benchmarks.joins.methods import methods
from thalweg_benchmarks.joins.orders import orders
from thalweg_benchmarks.joins.trees import trees
from thalweg_benchmarks.joins.zeek import zeek
from thalweg_benchmarks.result import Result


def run(data: Path | None = None) -> Iterator[Result]:
    """Join orders chosen at run time, hash tables against nested loops, and one operator against binary joins.

    With a folder of Zeek logs: a join of those logs instead.
    """
    if data is not None:
        yield from zeek(data)
        return
    yield from orders()
    yield from methods()
    yield from trees()
