"""Tables 1 and 2: the memory of 100,000 queries without tuples."""

from __future__ import annotations

import gc
import tracemalloc

from thalweg_benchmarks.flows.scale import BATCH, filled
from thalweg_benchmarks.flows.workload import TupleBatches, a_stream
from thalweg_benchmarks.papers.claims import between, grows
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Finding, Scale, Series

SOURCES, ATTRIBUTES = 5, 3
MEGABYTE = 1e6
PAPER, OURS = "the paper's estimate", "measured"


def _estimate(queries: int) -> float:
    """Table 1's total without tuples: queries, operators and masks of each source, and an output queue per query."""
    of_source = queries / SOURCES
    source = 4 * of_source + 100 * (ATTRIBUTES + 1) + of_source * ATTRIBUTES / 8
    return (SOURCES * source + 64 * queries) / MEGABYTE


def _run(scale: Scale) -> FigureData:
    found: dict[str, dict[float | str, float]] = {OURS: {}, PAPER: {}}
    for queries in scale.pick((1_000, 10_000, 100_000), (100, 100_000 // 500)):
        streams = [a_stream(f"s{i}", ATTRIBUTES) for i in range(SOURCES)]
        batches = {s.name: next(iter(TupleBatches(s, scale.pick(BATCH, 100), seed))) for seed, s in enumerate(streams)}
        gc.collect()
        tracemalloc.start()
        eddy = filled(streams, queries)
        eddy.process(batches, BATCH)  # builds the indexes
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        found[OURS][queries] = held / MEGABYTE
        found[PAPER][queries] = _estimate(queries)
    return FigureData(found, {"tuples of each source in the batch": scale.pick(BATCH, 100)})


def _formula(series: Series) -> Finding:
    ours = _estimate(100_000)
    return Finding(PAPER in series and abs(ours - 6.83) < 0.011, f"{ours:.2f} MB")


TABLE_1 = Experiment(
    "MaddenEtAl2002-table1",
    "memory of a flow, without its tuples (Tables 1 and 2)",
    "100,000 queries over 5 sources of 3 attributes take 6.83 MB beside the tuples, most of it output queues, and 2.5 "
    "KB for each tuple under way.",
    "Queries with one or two predicates, as in Table 2. The paper's number is its formula, and leaves the predicates "
    "out; ours is what the program holds, predicates, constants and their index included, after a batch.",
    Axis("queries", log=True),
    Axis("megabytes", log=True),
    _run,
    (
        Claim("by the formula 100,000 queries take 6.83 MB", _formula),
        between(OURS, "ours take less than a gigabyte", least=0.0, most=1000.0),
        grows(OURS, "memory grows no faster than the queries", most=100.0),
    ),
)
