"""Rows per second of whole plans in the kernel, over windows that are full, and what may explain them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from thalweg.algebra.catalog import Catalog
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.pipeline import build
from thalweg_benchmarks.kernel.feeds import BATCH, Feed, Keys
from thalweg_benchmarks.papers.claims import number
from thalweg_benchmarks.papers.experiment import Axis, Measured, Points, Scale

RATE = Axis("rows per second", log=True)
MEASURED = 7

AGGREGATE = "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM s [RANGE {0}] GROUP BY k"
DISTINCT = "SELECT DISTINCT k FROM s [RANGE {0}]"
JOIN = "SELECT s.k, s.v, t.v AS w FROM s [RANGE {0}], t [RANGE {0}] WHERE s.k = t.k"
EXCEPT = "SELECT k FROM s [RANGE {0}] EXCEPT SELECT k FROM t [RANGE {0}]"


class Pace(NamedTuple):
    """How many rows a second, and how many changes of the answer each row makes."""

    rate: float
    changes: float


def pace(query: str, keys: Keys, window: int, scale: Scale) -> Pace:
    """A tuple of each stream in a tick, in batches of 25,000 ticks; the median of several, once the window is full."""
    catalog = Catalog()
    compile_script("CREATE STREAM s (k INT, v INT); CREATE STREAM t (k INT, v INT)", catalog)
    pipeline = build(compile_query(query.format(window), catalog))
    read = sorted({node.source for node in pipeline.nodes if node.source})
    feeds = {name: Feed(keys, window, seed) for seed, name in enumerate(read)}
    filled = -(-window // BATCH) + 2
    times, gained = [], 0
    for step in range(filled + scale.pick(MEASURED, 1)):
        batches = {name: feed.arrivals() for name, feed in feeds.items()}
        began = time.perf_counter()
        told = pipeline.process(batches, next(iter(feeds.values())).at - 1)
        if step >= filled:
            times.append(time.perf_counter() - began)
            gained += len(told)
    rows = len(feeds) * BATCH
    return Pace(rows / float(np.median(times)), gained / (rows * len(times)))


def measured(paces: Mapping[str, Mapping[float, Pace]], tables: Iterable[int] = ()) -> Measured:
    """Rates, and in the details the changes of the answer, and what reading costs in `tables` of such sizes."""
    rates: Points = {name: {n: one.rate for n, one in found.items()} for name, found in paces.items()}
    told = "changes of the answer for each row, "
    changes = {told + name: _listed({n: one.changes for n, one in found.items()}) for name, found in paces.items()}
    return Measured(rates, {**changes, **_random_reads(tables)})


def _random_reads(sizes: Iterable[int]) -> dict[str, str]:
    """What the processor's caches do here: nanoseconds for a read from anywhere in a table of 8-byte entries."""
    rng = np.random.default_rng(0)
    found = {}
    for size in sizes:
        table, places = np.zeros(size, dtype=np.int64), rng.integers(0, size, 1 << 20)
        times = []
        for _ in range(3):
            began = time.perf_counter()
            table.take(places)
            times.append(time.perf_counter() - began)
        found[float(size)] = 1e9 * min(times) / len(places)
    return {"a read from anywhere in a table of so many entries (ns)": _listed(found)} if found else {}


def _listed(found: Mapping[float, float]) -> str:
    return ", ".join(f"{number(y)} at {number(x)}" for x, y in found.items())
