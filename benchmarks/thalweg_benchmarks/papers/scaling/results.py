"""Rows per second by the size of the result: groups of an aggregate, partners in a join."""

from __future__ import annotations

from thalweg_benchmarks.kernel.feeds import uniform
from thalweg_benchmarks.papers.claims import below, grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale
from thalweg_benchmarks.papers.scaling.running import AGGREGATE, DISTINCT, JOIN, RATE, figure, throughput

WINDOW = 1_000_000
JOINED = 100_000


def _by_groups(scale: Scale) -> FigureData:
    window = scale.pick(WINDOW, 10_000)
    groups = scale.pick((10, 100, 1_000, 10_000, 100_000, 1_000_000), (10, 100))
    queries = {"aggregate": AGGREGATE, "distinct": DISTINCT}
    found = {name: {float(n): throughput(q, uniform(n), window, scale) for n in groups} for name, q in queries.items()}
    return figure(found, groups)


def _by_partners(scale: Scale) -> FigureData:
    window = scale.pick(JOINED, 1_000)
    partners = scale.pick((1, 3, 10, 30, 100), (1, 10))
    rates = {"rows in": {float(n): throughput(JOIN, uniform(max(1, window // n)), window, scale) for n in partners}}
    made: dict[float | str, float] = {n: one.rate * one.changes for n, one in rates["rows in"].items()}
    found = figure(rates)
    return FigureData({**found.series, "results out": made}, found.details)


BY_GROUPS = Experiment(
    "scale-groups",
    "rows per second by the number of groups",
    "More groups cost cache misses, not work: a batch changes at most as many groups as it has tuples.",
    f"Windows of {WINDOW:,} tuples, keys uniform, batches of 25,000, in the kernel on one core. Each change of a group "
    "is emitted: with many groups, a tuple causes two changes when it comes and two when it goes.",
    Axis("distinct keys", log=True),
    RATE,
    _by_groups,
    (
        grows("aggregate", "with a million groups an aggregate has at least a fifth of its rate with ten", least=0.2),
        below("aggregate", "distinct", "DISTINCT, which emits fewer changes, is never slower than the aggregate"),
    ),
    {
        "aggregate": "with more keys than a batch has tuples, each tuple changes a group of its own, which is not in a "
        "cache",
        "distinct": "so does DISTINCT, which renews a key; and with a million keys, keys come and go, and each such "
        "change is emitted",
    },
)

BY_PARTNERS = Experiment(
    "scale-partners",
    "rows per second by the partners of a tuple in a join",
    "A join's time is that of its results: once there are several for a tuple, results per second stay the same.",
    f"Windows of {JOINED:,} tuples of two streams, uniform keys, so many tuples of a key in each; every pair is found "
    f"when "
    "its later tuple comes.",
    Axis("partners of a tuple", log=True),
    Axis("per second", log=True),
    _by_partners,
    (
        grows("rows in", "rows per second fall with the partners", least=0.0, most=1.0),
        grows("results out", "results per second do not", least=1.0),
    ),
    {
        "rows in": "a result costs what it costs to write; with few of them, looking up and storing a tuple costs more",
    },
)
