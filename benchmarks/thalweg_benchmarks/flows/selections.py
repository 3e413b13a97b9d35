"""Selections in one eddy, against a pipeline for each query, an eddy for each query, and ten times the queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from thalweg.algebra.catalog import Stream
from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.flows.eddy import Eddy, spj
from thalweg.kernel.pipeline import build
from thalweg_benchmarks.flows.workload import TupleBatches, a_stream, bands, random_queries
from thalweg_benchmarks.result import Result

AGAINST_KERNEL = 50.0  # times as fast as a pipeline for each of 1,000 queries
GROWTH = 4.0  # of the time, from 1,000 to 10,000 queries
AGAINST_EDDIES = 2.0  # times as fast as an eddy for each of 20 queries or more (MaddenEtAl2002 Figure 6)
MATCHES = 10.0  # per tuple
MEASURED = 5

Process = Callable[[Batch, int], int]  # an approach to run queries: takes a batch, returns the number of results


def run(queries: int = 1_000, size: int = 1_000) -> Iterator[Result]:
    """All comparisons; `queries` and `size` (tuples per batch) can be made smaller for tests."""
    stream = a_stream("s", 5)
    plans = bands(stream, queries, MATCHES, np.random.default_rng(1))
    for tuples, target in ((size, AGAINST_KERNEL), (10 * size, None)):
        approaches = [shared_eddy(stream, plans), split_eddy(stream, plans), one_by_one(plans)]
        shared, split, alone = measure(approaches, TupleBatches(stream, tuples))
        for what, took, held in (("results with their query's number", shared, target), ("a batch each", split, None)):
            detail = {"queries": queries, "batch": tuples, "microseconds_per_tuple": round(took / tuples * 1e6, 3)}
            name = f"{queries:,} queries, batches of {tuples:,}, {what}: shared against one by one"
            yield Result(name, alone / took, held, at_least=True, detail=detail)
    more = bands(stream, 10 * queries, MATCHES, np.random.default_rng(1))
    both = [shared_eddy(stream, plans), shared_eddy(stream, more)]
    few, many = measure(both, TupleBatches(stream, 10 * size), alike=False)
    yield Result(f"{10 * queries:,} queries against {queries:,}, {MATCHES:g} matches per tuple", many / few, GROWTH)
    for count in (5, 20, 50):
        drawn = random_queries(stream, count, np.random.default_rng(count))
        shared, eddies = measure([shared_eddy(stream, drawn), an_eddy_each(stream, drawn)], TupleBatches(stream, size))
        target = AGAINST_EDDIES if count >= 20 else None
        name = f"{count} random queries: one eddy against an eddy each"
        yield Result(name, eddies / shared, target, at_least=True)


def measure(
    approaches: Sequence[Process], tuples: Iterable[Batch], alike: bool = True, batches: int = MEASURED
) -> list[float]:
    """The median processor time for a batch, in seconds, by approach; if `alike`, their result counts must agree.

    All approaches run on each batch, and each is first equally often, because the first finds cold caches.
    """
    times: list[list[float]] = [[] for _ in approaches]
    for place, batch in enumerate(islice(tuples, batches + 1)):
        results = set()
        for offset in range(len(approaches)):
            approach = (place + offset) % len(approaches)
            began = time.process_time()
            results.add(approaches[approach](batch, int(batch.start[-1])))
            if place:  # the first batch builds indexes
                times[approach].append(time.process_time() - began)
        if alike and len(results) > 1:
            raise AssertionError(f"approaches to the same queries gave {sorted(results)} results")
    return [float(np.median(took)) for took in times]


def shared_eddy(stream: Stream, plans: Sequence[Plan]) -> Process:
    """All queries in one eddy, which emits packed results: each with the number of its query."""
    eddy = _filled(stream, plans)
    return lambda batch, now: sum(len(gained) for _, gained in eddy.process({stream.name: batch}, now).packed())


def split_eddy(stream: Stream, plans: Sequence[Plan]) -> Process:
    """All queries in one eddy, which emits a batch for each query."""
    eddy = _filled(stream, plans)
    return lambda batch, now: sum(len(gained) for _, gained in eddy.process({stream.name: batch}, now))


def _filled(stream: Stream, plans: Sequence[Plan]) -> Eddy:
    eddy = Eddy({stream.name: stream.schema}, StringPool())
    for slot, plan in enumerate(plans):
        query = spj(plan)
        assert query is not None
        eddy.add(slot, query)
    return eddy


def an_eddy_each(stream: Stream, plans: Sequence[Plan]) -> Process:
    """Every query in an eddy of its own."""
    eddies = [shared_eddy(stream, [plan]) for plan in plans]
    return lambda batch, now: sum(eddy(batch, now) for eddy in eddies)


def one_by_one(plans: Sequence[Plan]) -> Process:
    """Every query in a pipeline of the kernel."""
    pool = StringPool()
    pipelines = [build(plan, pool=pool) for plan in plans]
    name = next(leaf.detail for leaf in plans[0].walk() if not leaf.children)
    return lambda batch, now: sum(len(pipeline.process({name: batch}, now)) for pipeline in pipelines)
