"""Figure 4(b): sizes of hash tables by the cost formula, and which windows have an index, measured."""

from __future__ import annotations

from thalweg.optimizer.join_orders import Algorithm, CostModel, best_global_order
from thalweg_benchmarks.joins.workload import Workload
from thalweg_benchmarks.papers.claims import below, number, since
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Finding, Scale, Series
from thalweg_benchmarks.papers.golab_ozsu_2003.running import (
    HASH,
    HYBRID,
    NESTED_LOOPS,
    measured,
    rate,
    smaller,
    statistics,
)

FAST = Workload((*((1, 100, 50),) * 3, (50, 100, 50)))
FACTOR = 10  # times the paper's tuples and values in a run
EVERY = 5.0
SLOW = {"1 to slow": 1, "5 to slow": 5, "10 to slow": 10}
AVERAGES = (4, 6, 8, 10, 12, 14)
CLAIM = (
    "Large hash tables belong on the window of the fast stream: with them, fewer buckets for the slow streams take "
    "more input than tables of equal size; but without any index on the slow streams it is less again."
)


def _formula(scale: Scale) -> FigureData:
    """The formula of section 4.2: `slow` buckets for each slow stream, the rest of the buckets for the fast one."""
    streams = statistics(FAST)

    def cost(slow: int, average: int) -> float:
        fast = len(streams) * average - slow * (len(streams) - 1)
        model = CostModel(streams, [*(slow,) * (len(streams) - 1), fast], EVERY)
        return model.global_order(best_global_order(model))

    found: dict[str, dict[float | str, float]] = {"equal": {n: cost(n, n) for n in AVERAGES}}
    for name, few in SLOW.items():
        found[name] = {n: cost(few, n) for n in AVERAGES if n > few}
    return FigureData(found)


def _run(scale: Scale) -> FigureData:
    approaches = {
        "none": (NESTED_LOOPS, None),
        "the three slow": (HYBRID, (0, 1, 2)),
        "the fast one": (HYBRID, (3,)),
        "all": (HASH, None),
    }
    found: dict[float | str, float] = {
        name: rate(
            measured(
                smaller(FAST.faster(FACTOR), scale), Algorithm.LAZY, interval=EVERY, method=method, indexed=indexed,
                units=scale.pick(20.0, 5.0), rounds=scale.pick(3, 1),
            )
        )
        for name, (method, indexed) in approaches.items()
    }  # fmt: skip
    return FigureData({"measured": found})


def _more(one: str, other: str, says: str, why: str = "") -> Claim:
    def test(series: Series) -> Finding:
        ratio = series["measured"][one] / series["measured"][other]
        return Finding(ratio >= 1.0, f"{one} / {other}: {number(ratio)}")

    return Claim(says, test, why)


FIGURE_4B = Experiment(
    "GolabOzsu2003-fig4b",
    "cost by the sizes of hash tables",
    CLAIM,
    "Three streams of a tuple in a unit of time and one of fifty, windows of 100 units, 50 distinct values, evaluated "
    "every five units. The paper measures input rates; our tables have a bucket for each value and no size to choose, "
    "so this is its formula for comparisons.",
    Axis("average buckets of a window"),
    Axis("comparisons per unit of time", log=True),
    _formula,
    (
        below(
            "5 to slow",
            "equal",
            "with five buckets for a slow stream it costs less than with equal tables",
            why="with many buckets the formula wants some of them for the slow streams too, as every new tuple of the "
            "fast one looks there; the paper's measurement turns at 13 buckets, the formula at 10 or 11",
        ),
        below("equal", "1 to slow", "without an index on slow streams it costs more than with equal tables"),
        below(
            "10 to slow", "5 to slow", "with many buckets, ten for a slow stream are better than five", where=since(14)
        ),
    ),
)

FIGURE_4B_RUN = Experiment(
    "GolabOzsu2003-fig4b-run",
    "input rate by which windows have an index",
    CLAIM,
    "As above, with ten times the tuples and values: so small a window is all overhead in our vectorised operator.",
    Axis("windows with an index"),
    Axis("tuples per second", log=True),
    _run,
    (
        _more("the fast one", "none", "an index on the fast stream alone takes more input than none"),
        _more("all", "the fast one", "an index on the slow streams too takes more still"),
    ),
)
