"""Rows per second of whole plans in the kernel, over windows that are full."""

from __future__ import annotations

import time

import numpy as np

from thalweg.algebra.catalog import Catalog
from thalweg.bench.feeds import BATCH, Feed, Keys
from thalweg.bench.paper.experiment import Axis, Scale
from thalweg.cql import compile_query, compile_script
from thalweg.planner import build

RATE = Axis("rows per second", log=True)
MEASURED = 7

AGGREGATE = "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM s [RANGE {0}] GROUP BY k"
DISTINCT = "SELECT DISTINCT k FROM s [RANGE {0}]"
JOIN = "SELECT s.k, s.v, t.v AS w FROM s [RANGE {0}], t [RANGE {0}] WHERE s.k = t.k"
EXCEPT = "SELECT k FROM s [RANGE {0}] EXCEPT SELECT k FROM t [RANGE {0}]"


def rows_per_second(query: str, keys: Keys, window: int, scale: Scale) -> float:
    """A tuple of each stream in a tick, in batches of 25,000 ticks; the median of several, once the window is full."""
    catalog = Catalog()
    compile_script("CREATE STREAM s (k INT, v INT); CREATE STREAM t (k INT, v INT)", catalog)
    pipeline = build(compile_query(query.format(window), catalog))
    read = sorted({node.source for node in pipeline.nodes if node.source is not None})
    feeds = {name: Feed(keys, window, seed) for seed, name in enumerate(read)}
    filled = -(-window // BATCH) + 2
    times = []
    for step in range(filled + scale.pick(MEASURED, 1)):
        batches = {name: feed.arrivals() for name, feed in feeds.items()}
        began = time.perf_counter()
        pipeline.process(batches, next(iter(feeds.values())).at - 1)
        if step >= filled:
            times.append(time.perf_counter() - began)
    return len(feeds) * BATCH / float(np.median(times))
