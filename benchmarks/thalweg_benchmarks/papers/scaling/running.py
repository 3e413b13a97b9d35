"""Rows per second of whole plans in the kernel over full windows, with details that help to explain them."""

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
from thalweg_benchmarks.papers.experiment import Axis, FigureData, Points, Scale

RATE = Axis("rows per second", log=True)
MEASURED = 7

AGGREGATE = "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM s [RANGE {0}] GROUP BY k"
DISTINCT = "SELECT DISTINCT k FROM s [RANGE {0}]"
JOIN = "SELECT s.k, s.v, t.v AS w FROM s [RANGE {0}], t [RANGE {0}] WHERE s.k = t.k"
EXCEPT = "SELECT k FROM s [RANGE {0}] EXCEPT SELECT k FROM t [RANGE {0}]"


class Throughput(NamedTuple):
    """Rows per second, and changes of the answer per row."""

    rate: float
    changes: float


def throughput(query: str, keys: Keys, window: int, scale: Scale) -> Throughput:
    """The median over several batches of 25,000 ticks, a tuple of each stream per tick, once the window is full."""
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
        changes = pipeline.process(batches, next(iter(feeds.values())).at - 1)
        if step >= filled:
            times.append(time.perf_counter() - began)
            gained += len(changes)
    rows = len(feeds) * BATCH
    return Throughput(rows / float(np.median(times)), gained / (rows * len(times)))


def figure(measured: Mapping[str, Mapping[float, Throughput]], tables: Iterable[int] = ()) -> FigureData:
    """The rates; in the details, changes of the answer per row, and the time of a random read in `tables` by size."""
    rates: Points = {name: {n: one.rate for n, one in found.items()} for name, found in measured.items()}
    label = "changes of the answer for each row, "
    changes = {label + name: _listed({n: one.changes for n, one in found.items()}) for name, found in measured.items()}
    return FigureData(rates, {**changes, **_random_reads(tables)})


def _random_reads(sizes: Iterable[int]) -> dict[str, str]:
    """Nanoseconds of a random read in tables of 8-byte entries, which show the effect of the processor's caches."""
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
