"""The tuples that operators store in steady state: delta* against its output, known ends against negative tuples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.pipeline import Pipeline, Strategy, build
from thalweg_benchmarks.kernel.feeds import BATCH, Feed, zipf
from thalweg_benchmarks.result import Result

WINDOW = 90_000  # not a multiple of a batch
TWICE = 2.0  # tuples that delta* stores for each tuple of its output, at most (U5)
NO_MORE = 1.0  # times the tuples of NT, whose EXPIRE stores every tuple that will end, besides the operator's own state

DISTINCT = "SELECT DISTINCT k FROM s {w}"
QUERIES = {
    "join": "SELECT s.k FROM s {w} JOIN t {w} ON s.k = t.k AND s.v = t.v",
    "distinct": DISTINCT,
    "group-by": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s {w} GROUP BY k",
    "negation": "SELECT k, v FROM s {w} EXCEPT ALL ON (k) SELECT k, v FROM t {w}",
}


def run(window: int = WINDOW) -> Iterator[Result]:
    """Ratios of stored tuples, over few and over many keys."""
    for keys in (2_000, 100_000):
        stored, shown = _fed(DISTINCT, Strategy.AUTO, window, keys)
        detail = {"stored": stored, "output": shown}
        yield Result(f"delta* state / output, {keys:,} keys", stored / shown, TWICE, detail=detail)
        for name, query in QUERIES.items():
            ours, _ = _fed(query, Strategy.AUTO, window, keys)
            theirs, _ = _fed(query, Strategy.NT, window, keys)
            detail = {"stored": ours, "stored_nt": theirs}
            yield Result(f"{name}: UPA state / NT state, {keys:,} keys", ours / theirs, NO_MORE, detail=detail)


def _fed(query: str, strategy: Strategy, window: int, keys: int) -> tuple[int, int]:
    """The tuples that all operators store after one and a half windows, and the tuples in the answer."""
    catalog = Catalog()
    compile_script("CREATE STREAM s (k INT, v INT); CREATE STREAM t (k INT, v INT)", catalog)
    pipeline = build(compile_query(query.format(w=f"[RANGE {window}]"), catalog), strategy)
    feeds = {name: Feed(zipf(keys), window, seed, pipeline.dated) for seed, name in enumerate(("s", "t"))}
    emitted = [pipeline.begin(-1)]
    for _ in range(-(-3 * window // (2 * BATCH))):
        emitted.append(_step(pipeline, feeds))
    now = feeds["s"].at - 1
    return pipeline.stored, int(sum(np.sum(b.sign[(b.start <= now) & (now < b.end)], dtype=np.int64) for b in emitted))


def _step(pipeline: Pipeline, feeds: dict[str, Feed]) -> Batch:
    batches = {name: feed.arrivals() for name, feed in feeds.items()}
    return pipeline.process(batches, feeds["s"].at - 1)
