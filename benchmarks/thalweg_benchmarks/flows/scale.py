"""100,000 queries over 5 sources of 3 attributes, 1.5 predicates each (MaddenEtAl2002 Table 2)."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator, Mapping

import numpy as np

from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import and_, call, column, literal
from thalweg.algebra.plan import Named
from thalweg.algebra.windows import Unbounded
from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.flows.eddy import Eddy, SpjQuery, Use
from thalweg_benchmarks.flows.workload import SPREAD, TupleBatches, a_stream
from thalweg_benchmarks.result import Result

GIGABYTE = 1 << 30
SELECTED = 0.002  # the share of tuples that a predicate selects
BATCH = 2_000


def run(queries: int = 100_000) -> Iterator[Result]:
    """The memory of the eddy without tuples, as gigabytes, and the time for a tuple."""
    streams = [a_stream(f"s{i}", 3) for i in range(5)]
    batches = {stream.name: next(iter(TupleBatches(stream, BATCH, seed))) for seed, stream in enumerate(streams)}
    tracemalloc.start()
    eddy = filled(streams, queries)
    results = len(eddy.process(batches, BATCH))  # builds the indexes
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.collect()  # frees what tracemalloc kept, before the timing
    took = min(_seconds(eddy, batches) for _ in range(3)) / (BATCH * len(streams))
    detail = {
        "bytes_per_query": round(peak / queries),
        "matches_per_tuple": round(results / (BATCH * len(streams)), 3),
        "microseconds_per_tuple": round(took * 1e6, 1),
    }
    name = f"{queries:,} queries over {len(streams)} sources and 15 attributes: gigabytes"
    yield Result(name, peak / GIGABYTE, 1.0, detail=detail)


def _seconds(eddy: Eddy, batches: Mapping[str, Batch]) -> float:
    began = time.perf_counter()
    eddy.process(batches, BATCH)
    return time.perf_counter() - began


def filled(streams: list[Stream], queries: int) -> Eddy:
    """An eddy with queries over any of the streams, with one or two predicates each."""
    eddy, rng = Eddy({stream.name: stream.schema for stream in streams}, StringPool()), np.random.default_rng(1)
    least = round(SPREAD * (1.0 - SELECTED))
    for slot in range(queries):
        stream = streams[rng.integers(0, len(streams))]
        parts = [
            call(">", column(stream.schema, 1 + a), literal(int(rng.integers(least, SPREAD))))
            if above
            else call("<=", column(stream.schema, 1 + a), literal(int(rng.integers(0, SPREAD - least))))
            for a, above in zip(
                rng.permutation(3)[: 1 + slot % 2].tolist(), (rng.random(2) < 0.5).tolist(), strict=False
            )
        ]
        items = (Named(column(stream.schema, 0), "index"),)
        eddy.add(slot, SpjQuery((Use(stream.name, Unbounded()),), and_(parts), items))
    return eddy
