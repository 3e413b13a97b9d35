"""Figures 4 and 6: throughput by the state of a tuple, by the number of queries and by the number of sources."""

from __future__ import annotations

import time

import numpy as np

from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import call, column, literal
from thalweg.algebra.plan import Named, Plan, Project, Select, StreamScan
from thalweg.core.strings import StringPool
from thalweg.flows.eddy import Eddy, spj
from thalweg_benchmarks.flows.selections import MEASURED, an_eddy_each, measure, shared_eddy
from thalweg_benchmarks.flows.workload import SPREAD, TupleBatches, a_stream, random_queries
from thalweg_benchmarks.papers.claims import below, grows, since
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale

OURS, EACH = "one eddy", "an eddy each"
FIVE = 5  # attributes, and queries that select tuples
TWENTY = 20  # queries over several sources
BATCH = 20_000


def _by_bits(scale: Scale) -> FigureData:
    """Five random queries, and more that no tuple fulfils, which make the state of a tuple larger by a bit each."""
    stream, size = a_stream("s", FIVE), scale.pick(BATCH, 200)
    wanted = random_queries(stream, FIVE, np.random.default_rng(1))
    found: dict[float | str, float] = {}
    for bits in scale.pick((5, 64, 250, 500, 1_000, 2_000, 3_000), (5, 64)):
        never = [_above(stream, SPREAD + i) for i in range(bits - FIVE)]
        found[bits] = size / measure([shared_eddy(stream, [*wanted, *never])], TupleBatches(stream, size))[0]
    return FigureData({OURS: found})


def _by_queries(scale: Scale) -> FigureData:
    stream, size = a_stream("s", FIVE), scale.pick(BATCH, 200)
    found: dict[str, dict[float | str, float]] = {OURS: {}, EACH: {}}
    for count in scale.pick((1, 5, 10, 20, 50, 100), (1, 10)):
        plans = random_queries(stream, count, np.random.default_rng(count))
        approaches = [shared_eddy(stream, plans), an_eddy_each(stream, plans)]
        delivered = approaches[0](next(iter(TupleBatches(stream, size, 2))), size)
        for name, took in zip((OURS, EACH), measure(approaches, TupleBatches(stream, size)), strict=True):
            found[name][count] = delivered / took
    return FigureData(found)


def _by_sources(scale: Scale) -> FigureData:
    size = scale.pick(BATCH, 200)
    return FigureData({OURS: {n: _delivered(n, size) for n in scale.pick((1, 2, 4, 6, 8, 10), (1, 2))}})


def _delivered(sources: int, size: int) -> float:
    """Results per second of twenty queries with one predicate, each over one of the sources."""
    rng = np.random.default_rng(sources)
    streams = [a_stream(f"s{i}", FIVE) for i in range(sources)]
    eddy = Eddy({stream.name: stream.schema for stream in streams}, StringPool())
    for slot in range(TWENTY):
        query = spj(_above(streams[rng.integers(0, sources)], int(rng.integers(0, SPREAD))))
        assert query is not None
        eddy.add(slot, query)
    batches = [iter(TupleBatches(stream, size // sources, seed)) for seed, stream in enumerate(streams)]
    took, results = 0.0, 0
    for place in range(MEASURED + 1):
        feeds = {stream.name: next(tuples) for stream, tuples in zip(streams, batches, strict=True)}
        began = time.perf_counter()
        got = sum(len(gained) for _, gained in eddy.process(feeds, (place + 1) * size))
        if place:  # the first batch builds indexes
            took, results = took + time.perf_counter() - began, results + got
    return results / took


def _above(stream: Stream, least: int) -> Plan:
    chosen = Select(StreamScan(stream), call(">", column(stream.schema, 1), literal(least)))
    return Project(chosen, (Named(column(stream.schema, 0), "index"),))


FIGURE_4 = Experiment(
    "MaddenEtAl2002-fig4",
    "throughput by the state that a tuple carries",
    "From 15 bits for a tuple to 3,000 throughput falls by more than five times, ever less steeply: in the end it is "
    "the memory that is written.",
    "Five random queries over five attributes. A bit stands for a query here, so the state is made larger by queries "
    "that nothing fulfils, all over one attribute (the paper only makes tuples larger).",
    Axis("bits of state for a tuple"),
    Axis("tuples per second", log=True),
    _by_bits,
    (
        grows(OURS, "throughput falls with the bits", least=0.0, most=1.0),
        grows(
            OURS,
            "it falls by more than five times",
            least=0.0,
            most=0.2,
            why="the bits of many tuples are written and compared as words of 64, so that they cost less than the five "
            "queries' own work",
        ),
    ),
)

FIGURE_6A = Experiment(
    "MaddenEtAl2002-fig6a",
    "throughput by the number of queries",
    "One eddy for all queries delivers more the more queries there are, up to about twenty, and then holds its rate; "
    "an eddy for each query delivers half as much.",
    "Random queries: each of five attributes has a predicate with a chance of one half. What is delivered is counted "
    "once for each query.",
    Axis("queries"),
    Axis("results per second", log=True),
    _by_queries,
    (
        grows(OURS, "one eddy delivers more with more queries", least=1.0),
        below(
            EACH, OURS, "from 10 queries on it delivers at least twice as much as an eddy each", by=2.0, where=since(10)
        ),
    ),
)

FIGURE_6B = Experiment(
    "MaddenEtAl2002-fig6b",
    "throughput by the number of sources",
    "Spread over more sources, the same twenty queries deliver somewhat less: more scans, and filters that serve fewer "
    "queries each.",
    "Twenty queries of one predicate over one attribute, each over one of the sources; as many tuples in all, "
    "whatever the number of sources.",
    Axis("sources"),
    Axis("results per second"),
    _by_sources,
    (
        grows(OURS, "more sources deliver less", least=0.0, most=1.0),
        grows(
            OURS,
            "but with ten sources still a fifth of it",
            least=0.2,
            why="twenty selections of a batch take our eddy a fraction of a millisecond, less than ten sources cost "
            "whose batches are a tenth as large",
        ),
    ),
)
