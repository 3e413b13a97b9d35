"""Run GolabOzsu2005's queries: links with one tuple per tick, sliding windows, and a materialised view of the result.

The paper's times include the view, which each approach stores in its own way: in a table by key from which negative
tuples delete (NT), in a sequence that is scanned (DIRECT), in partitions by expiration time (UPA). The view is updated
at the lazy expiration interval, a twentieth of the window.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.pipeline import Pipeline, Settings, Strategy, build
from thalweg.kernel.state.buffers import Buffer, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.kernel.state.keyed import Keyed
from thalweg_benchmarks.papers.experiment import Points, Scale
from thalweg_benchmarks.papers.golab_ozsu_2005.direct_distinct import DirectDistinct
from thalweg_benchmarks.papers.trace import LINKS, TraceStream, trace

BATCH = 1_000  # ticks: the paper reports times per 1,000 tuples
LAZY = 20  # expiration intervals in a window
MEASURED = 40  # batches
ROUNDS, LONG = 3, 2.0  # runs, and the seconds after which no further run starts
TICKS = 1_000  # that are timed where a batch is a tick
AS_WRITTEN = Settings(optimize=False)


@dataclass(frozen=True)
class Approach:
    """A strategy, the buffer of its view, and whether DISTINCT is the literature's, which stores its input."""

    strategy: Strategy
    view: Callable[[], Buffer]
    settings: Settings = AS_WRITTEN
    stores_input: bool = False


Queries = Mapping[str, tuple[str, Approach]]  # name -> a query and its approach

NT = Approach(Strategy.NT, KeyedBuffer)
DIRECT = Approach(Strategy.DIRECT, SequentialBuffer, stores_input=True)
UPA = Approach(Strategy.AUTO, PartitionedBuffer)


@dataclass(frozen=True)
class Timed:
    """Milliseconds of processor time per 1,000 tuples, stored tuples, results alive at the end, and emitted ones."""

    milliseconds: float
    stored: int
    results: int
    premature: int  # results that were deleted before their end
    emitted: int  # results in all


@lru_cache(maxsize=256)
def timed(query: str, approach: Approach, window: int, scale: Scale, batch: int = BATCH) -> Timed:
    """The fastest of up to three runs; a long run is not repeated."""
    began, runs = time.perf_counter(), [_run(query, approach, window, scale, batch)]
    while len(runs) < scale.pick(ROUNDS, 1) and time.perf_counter() - began < LONG:
        runs.append(_run(query, approach, window, scale, batch))
    return min(runs, key=lambda run: run.milliseconds)


def _run(query: str, approach: Approach, window: int, scale: Scale, batch: int) -> Timed:
    """Fill the windows, then time batches."""
    fed = _Fed(query, approach, window, scale)
    step = max(BATCH, window // LAZY)
    while fed.at < 1.25 * window:
        fed.step(step)
    fed.seconds = 0.0
    batches = scale.pick(MEASURED if batch > 1 else TICKS, 3)
    for _ in range(batches):
        fed.step(batch)
    tuples = batches * batch * fed.streams
    fed.view.flush(fed.at - 1)
    metrics = fed.pipeline.measure()
    return Timed(
        1e6 * fed.seconds / tuples,
        fed.pipeline.stored,
        fed.view.alive(fed.at - 1),
        max(m.premature for m in metrics),
        metrics[-1].positive_out,
    )


def series(queries: Queries, windows: Sequence[int], scale: Scale, shown: Callable[[Timed], float]) -> Points:
    """A number of each query's run, by window size. Approaches to one query must have equally many results."""
    found: Points = {name: {} for name in queries}
    for window in windows:
        results: dict[str, int] = {}
        for name, (query, approach) in queries.items():
            run = timed(query, approach, window, scale)
            if results.setdefault(query, run.results) != run.results:
                raise AssertionError(f"{name}, window {window}: {run.results} results, not {results[query]}")
            found[name][float(window)] = shown(run)
    return found


def tick_by_tick(queries: Queries, window: int, scale: Scale) -> dict[str, float]:
    """Milliseconds per 1,000 tuples with batches of one tick, as in the paper."""
    return {name: round(timed(*query, window, scale, batch=1).milliseconds, 1) for name, query in queries.items()}


class ResultView:
    """The materialised result: changes are collected, and applied to the buffer at each interval."""

    def __init__(self, buffer: Buffer, lazy: int) -> None:
        self._buffer, self._lazy = buffer, lazy
        self._waiting: list[Batch] = []
        self._flushed_at = 0

    def add(self, changes: Batch, now: Instant) -> None:
        """Collect changes of the result."""
        self._waiting.append(changes)
        if now - self._flushed_at >= self._lazy:
            self.flush(now)

    def flush(self, now: Instant) -> None:
        """Bring the view up to date."""
        self._flushed_at = now
        changes = Batch.concat(self._waiting) if self._waiting else None
        self._waiting = []
        if changes is not None and len(changes):
            arrivals = Keyed.of(changes.columns[0].astype(np.int64), changes).closed()
            found = self._buffer.delete(arrivals)
            self._buffer.keep(arrivals.take(~found), now)
        self._buffer.expire(now)

    def alive(self, now: Instant) -> int:
        """The number of results alive at `now`."""
        return int(sum(run.sign[run.end > now].sum() for run in self._buffer.runs))


class _Fed:
    """A query, its view, and the links that feed it."""

    def __init__(self, query: str, approach: Approach, window: int, scale: Scale) -> None:
        catalog = Catalog()
        names = ("a", "b", "c")[:LINKS]
        compile_script("; ".join(f"CREATE STREAM {name} ({TraceStream.COLUMNS})" for name in names), catalog)
        source = trace(scale)
        text = query.format(w=f"[RANGE {window}]", few=source.few, many=source.many)
        settings = replace(approach.settings, lazy=window // LAZY)
        self.pipeline = build(compile_query(text, catalog), approach.strategy, settings=settings)
        if approach.stores_input:
            self.pipeline = _storing_inputs(self.pipeline)
        self.view = ResultView(approach.view(), window // LAZY)
        used = {node.source for node in self.pipeline.nodes}
        self._links = {n: link for n, link in zip(names, source.links(LINKS), strict=True) if n in used}
        self.streams = len(self._links)
        self.at = 0
        self.seconds = 0.0
        self.pipeline.begin(-1)

    def step(self, ticks: int) -> None:
        """Process the tuples of the next `ticks` ticks."""
        ts = np.arange(self.at, self.at + ticks)
        feeds = {name: link.batch(self.at, ts, self.pipeline.dated) for name, link in self._links.items()}
        self.at += ticks
        began = time.process_time()
        self.view.add(self.pipeline.process(feeds, self.at - 1), self.at - 1)
        self.seconds += time.process_time() - began


def _storing_inputs(pipeline: Pipeline) -> Pipeline:
    """The pipeline with the literature's DISTINCT in place of delta*."""
    nodes = [
        replace(node, operator=DirectDistinct(node.schema)) if isinstance(node.operator, DeltaStar) else node
        for node in pipeline.nodes
    ]
    return Pipeline(nodes, pipeline.pool, pipeline.dated, pipeline.identity)
