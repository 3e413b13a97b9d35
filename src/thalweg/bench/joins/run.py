"""The cases of `thalweg bench joins` (GolabOzsu2003 §6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from thalweg.bench.joins.methods import methods
from thalweg.bench.joins.orders import orders
from thalweg.bench.joins.trees import trees
from thalweg.bench.joins.zeek import zeek
from thalweg.bench.result import Result


def run(data: Path | None = None) -> Iterator[Result]:
    """Orders chosen while a join runs, how partners are found, and binary joins instead; or the logs in a folder."""
    if data is not None:
        yield from zeek(data)
        return
    yield from orders()
    yield from methods()
    yield from trees()
