"""Figure 4(a): the input rate by the interval of evaluation."""

from __future__ import annotations

from thalweg.optimizer.join_orders import Algorithm
from thalweg_benchmarks.joins.workload import Workload
from thalweg_benchmarks.papers.claims import below, number
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Finding, Scale, Series
from thalweg_benchmarks.papers.golab_ozsu_2003.running import HASH, NESTED_LOOPS, measured, rate, smaller

ALIKE = (1, 100, 50)
FOUR = Workload((ALIKE,) * 4).faster(20)
RATE = Axis("tuples per second", log=True)
INTERVAL = Axis("interval of evaluation, units of time")


def _by_interval(scale: Scale) -> FigureData:
    intervals = scale.pick((1, 2, 5, 10, 20, 40), (1, 5))
    options = {"NLJ": NESTED_LOOPS, "HASH": HASH}
    return FigureData(
        {
            name: {
                t: rate(
                    measured(
                        smaller(FOUR, scale), Algorithm.LAZY, interval=t, method=method,
                        units=scale.pick(40.0, 20.0), rounds=scale.pick(3, 1),
                    )
                )
                for t in intervals
            }
            for name, method in options.items()
        }
    )  # fmt: skip


def _best_interval(says: str, why: str = "") -> Claim:
    def test(series: Series) -> Finding:
        best = {name: max(points, key=lambda t: points[t]) for name, points in series.items()}
        seen = ", ".join(f"{name} at {number(t)}" for name, t in best.items())
        return Finding(float(best["HASH"]) >= float(best["NLJ"]), seen)

    return Claim(says, test, why)


FIGURE_4A = Experiment(
    "GolabOzsu2003-fig4a",
    "input rate by the interval of evaluation",
    "Nested loops are slowest at every interval. Evaluating and expiring very often, or very seldom, costs input; the "
    "larger the hash tables, the longer the best interval.",
    "Four windows of 100 units of time, twenty tuples of each stream in one, 1,000 distinct values (the paper: one and "
    "50; so small a window is all overhead here). The paper's tables have 2, 10 and 30 buckets; ours have one for each "
    "value, so there is one line for them.",
    INTERVAL,
    RATE,
    _by_interval,
    (
        below(
            "NLJ",
            "HASH",
            "hash tables take more input than nested loops at every interval",
            why="at the shortest intervals an evaluation gets so few tuples that our operator's time is that of a "
            "batch, whatever it does with its tuples; from five units of time on hash tables win",
        ),
        _best_interval("the best interval for hash tables is no shorter than the one for nested loops"),
    ),
)
