"""The join order that the operator chooses at run time, against fixed orders; nested loops, small batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

import numpy as np

from thalweg.kernel.pipeline import Settings
from thalweg_benchmarks.joins.workload import JoinTiming, Workload, measure, measure_all
from thalweg_benchmarks.result import Result

WITHIN = 1.1  # times the best order
SAMPLE = 24  # of the 720 orders of six windows
ROUNDS = 8

FASTER = 4  # times the tables' rates: with so few tuples, a batch costs the same in any order

# Tables 5 to 7, and six windows: one attribute, a fast stream, windows of different sizes.
WORKLOADS: Mapping[str, Workload] = {
    "Table 5": Workload(((10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5))).faster(FASTER),
    "Table 6, a tenth of the time": Workload(((100, 10, 200), (1, 100, 200), (1, 100, 20), (3, 100, 2))).faster(FASTER),
    "Table 7": Workload(((11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20))).faster(FASTER),
    "six windows": Workload(((8, 50, 400), (1, 100, 300), (1, 200, 250), (2, 100, 220), (1, 50, 60), (4, 50, 150))),
    "six windows alike but for one rate": Workload(((10, 50, 300), *(((1, 100, 300),) * 5))),
}


def orders(workloads: Mapping[str, Workload] = WORKLOADS, batches: int = 15) -> Iterator[Result]:
    """Comparisons against the best fixed order; time against the three fastest ones, which take turns with it."""
    for name, workload in workloads.items():
        batch = 2 * round(workload.ticks)
        freely = Settings(join="nested-loops")
        chosen = measure(workload, workload.join(), freely, batch=batch, batches=batches)
        given = {order: _given(workload, order, batch, batches) for order in some(len(workload.streams))}
        best = min(given.values(), key=lambda m: m.comparisons)
        worst = max(given.values(), key=lambda m: m.comparisons)
        detail = {
            "orders": chosen.orders,
            "comparisons": round(chosen.comparisons),
            "best": round(best.comparisons),
            "worst": round(worst.comparisons),
            "tried": len(given),
        }
        case = f"{name}: the chosen order against the best of {len(given)}"
        yield Result(f"{case}, comparisons", chosen.comparisons / best.comparisons, WITHIN, detail=detail)
        three = sorted(given, key=lambda order: given[order].seconds)[:3]
        approaches = [freely, *(Settings(join="nested-loops", order=order) for order in three)]
        plan = workload.join()
        ours, *theirs = measure_all(
            workload, [(plan, w) for w in approaches], batch=batch, batches=batches, rounds=ROUNDS
        )
        fastest = min(m.seconds for m in theirs)
        micros = {"microseconds": round(ours.seconds * 1e6, 2), "best": round(fastest * 1e6, 2)}
        yield Result(f"{case}, time", ours.seconds / fastest, WITHIN, detail=micros)


def _given(workload: Workload, order: tuple[int, ...], batch: int, batches: int) -> JoinTiming:
    settings = Settings(join="nested-loops", order=order)
    return measure(workload, workload.join(), settings, batch=batch, batches=batches)


def some(streams: int) -> list[tuple[int, ...]]:
    """All orders of so many streams, or a sample of `SAMPLE` of them."""
    everything = list(permutations(range(streams)))
    if len(everything) <= SAMPLE:
        return everything
    drawn = np.random.default_rng(6).choice(len(everything), SAMPLE, replace=False)
    return [everything[i] for i in sorted(drawn.tolist())]
