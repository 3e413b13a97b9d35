"""Rows per second by the number of standing queries."""

from __future__ import annotations

import numpy as np

from thalweg_benchmarks.flows.selections import MATCHES, measure, one_by_one, shared_eddy
from thalweg_benchmarks.flows.workload import TupleBatches, a_stream, bands
from thalweg_benchmarks.papers.claims import below_at_end, grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale
from thalweg_benchmarks.papers.scaling.running import RATE

SHARED, ALONE = "one flow", "one by one"
MOST_ALONE = 1_000  # the most queries that run one by one, because more take minutes


def _run(scale: Scale) -> FigureData:
    stream = a_stream("s", 5)
    size = scale.pick(10_000, 200)
    found: dict[str, dict[float | str, float]] = {SHARED: {}, ALONE: {}}
    for count in scale.pick((1, 10, 100, 1_000, 10_000, 100_000), (1, 20)):
        plans = bands(stream, count, min(MATCHES, count / 2), np.random.default_rng(1))
        tuples = TupleBatches(stream, size if count <= MOST_ALONE else max(1, size // 5))
        found[SHARED][count] = tuples.size / measure([shared_eddy(stream, plans)], tuples)[0]
        if count <= MOST_ALONE:
            found[ALONE][count] = size / measure([one_by_one(plans)], TupleBatches(stream, size))[0]
    return FigureData(found)


BY_QUERIES = Experiment(
    "scale-queries",
    "rows per second by the number of queries",
    "A flow's cost grows with what matches, and slowly with the queries that do not; queries by themselves cost a pass "
    "each.",
    "Queries that want some of five attributes within bounds of their own; together ten of them match a tuple, "
    "whatever their number (half of them while there are fewer than twenty). Every query gets a batch of its own.",
    Axis("standing queries", log=True),
    RATE,
    _run,
    (
        below_at_end(
            ALONE, SHARED, "at a thousand queries a flow takes in at least ten times what they do one by one", by=10.0
        ),
        grows(SHARED, "a hundred thousand queries have at least a ten-thousandth of one query's rate", least=1e-4),
    ),
    {
        SHARED: "up to a thousand queries a tuple costs what its ten matches cost; beyond, the sets of queries by "
        "range of an attribute, which each tuple meets, are what grows",
        ALONE: "each query is one more pass over the rows",
    },
)
