"""Tables 5 to 7: the costs of all orders of four streams, by the formula and in a run, and the heuristic's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import permutations

from thalweg.optimizer.join_orders import CostModel, heuristic_order
from thalweg_benchmarks.joins.workload import Workload
from thalweg_benchmarks.papers.claims import number
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Finding, Scale, Series
from thalweg_benchmarks.papers.golab_ozsu_2003.running import measured, smaller, statistics

MODEL, RUN, HEURISTIC = "model", "counted in a run", "the heuristic's choice"
_WORKLOAD = (
    "Four streams with the rates, windows and distinct values of the table, nested loops, one order for all sources. "
    '"model" is the paper\'s formula for comparisons per unit of time; a run counts them.'
)


_DRAWN = (
    "orders that cost the same by the formula differ by a tenth and more in a run: with a hundred tuples in a window "
    "it is chance which values meet"
)


def _name(order: tuple[int, ...]) -> str:
    return "".join(str(i + 1) for i in order)


def _run(workload: Workload, units: float, scale: Scale) -> FigureData:
    streams = statistics(workload)
    model = CostModel.nested_loops(streams)
    costs = {order: model.global_order(order) for order in permutations(range(len(streams)))}
    ranked = sorted(costs, key=lambda order: costs[order])
    chosen = heuristic_order(streams, model.global_order)
    tried = scale.pick(ranked, ranked[:2])
    counted = {order: measured(smaller(workload, scale), order=order, units=scale.pick(units, 1.0)) for order in tried}
    return FigureData(
        {
            MODEL: {_name(order): costs[order] for order in ranked},
            RUN: {_name(order): run.comparisons * workload.ticks for order, run in counted.items()},
            HEURISTIC: {_name(chosen): costs[chosen]},
        },
        {"mean of all orders, model": round(sum(costs.values()) / len(costs))},
    )


def _costs(costs: Mapping[str, float]) -> Claim:
    said = ", ".join(f"{order}: {number(cost)}" for order, cost in costs.items())

    def test(series: Series) -> Finding:
        ours = {order: series[MODEL][order] for order in costs}
        seen = ", ".join(f"{order}: {number(cost)}" for order, cost in ours.items())
        # The paper rounds some costs ("approximately", "nearly"), so they must agree to three digits.
        return Finding(all(abs(ours[order] - cost) <= 0.005 * cost for order, cost in costs.items()), seen)

    return Claim(f"the orders cost what the paper says ({said})", test)


def _best(says: str, test: Callable[[str, Mapping[str, float]], bool], which: str, why: str = "") -> Claim:
    def of(series: Series) -> Finding:
        (chosen,) = map(str, series[HEURISTIC])
        costs = {str(order): cost for order, cost in series[which].items()}
        best = min(costs, key=lambda order: costs[order])
        return Finding(test(chosen, costs), f"chosen {chosen}, best {best}")

    return Claim(says, of, why)


def _experiment(
    table: int, title: str, claim: str, workload: Workload, costs: Mapping[str, float], units: float
) -> Experiment:
    return Experiment(
        f"GolabOzsu2003-table{table}",
        title,
        claim,
        _WORKLOAD,
        Axis("order of the streams"),
        Axis("comparisons per unit of time"),
        partial(_run, workload, units),
        (
            _costs(costs),
            _best(
                "the heuristic finds the best order", lambda it, all_: all_[it] <= 1.0001 * min(all_.values()), MODEL
            ),
            _best(
                "counted in a run, it is within a tenth of the best",
                lambda it, all_: it in all_ and all_[it] <= 1.1 * min(all_.values()),
                RUN,
                _DRAWN,
            ),
        ),
    )


TABLE_5 = _experiment(
    5,
    "orders, by selectivity",
    "Ordering the joins by selectivity finds a good order here, with the fast stream first the best one; the worst "
    "costs more than five times as much.",
    Workload(((10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5))),
    {"1234": 16_000, "2134": 19_600},
    40.0,
)
TABLE_6 = _experiment(
    6,
    "orders, one stream a hundred times as fast",
    "Selectivity alone misses the best order; moving the fast stream up, but not to the top, finds it.",
    Workload(((100, 100, 200), (1, 100, 200), (1, 100, 20), (3, 100, 2))),
    {"2134": 80_400, "2314": 123_000, "2341": 248_000, "1234": 120_000},
    40.0,
)
TABLE_7 = _experiment(
    7,
    "orders, two fast streams and two slow ones",
    "With two fast streams, moving one of them up finds the best order, and moving both to the top does not pay.",
    Workload(((11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20))),
    {"3412": 49_542, "3142": 47_977, "3124": 51_954, "1234": 68_200, "2134": 79_000},
    60.0,
)
