"""Figures 2 and 3: the costs of the algorithms, by the number of windows and by the interval of evaluation."""

from __future__ import annotations

from functools import partial

from thalweg.optimizer.join_orders import Algorithm
from thalweg_benchmarks.joins.workload import Workload
from thalweg_benchmarks.papers.claims import alike, below, grows, until, widens
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale
from thalweg_benchmarks.papers.golab_ozsu_2003.running import comparisons, modelled, smaller

COST = Axis("comparisons per unit of time", log=True)
ALIKE = (1, 100, 50)  # rate, extent, distinct values
FOUR = Workload((ALIKE,) * 4)
FAST = Workload((*(ALIKE,) * 3, (10, 100, 50)))
_WORKLOAD = (
    'Windows of 100 units of time, a tuple of each stream in one, 50 distinct values. "model" is the paper\'s formula '
    "for the best order; the others are comparisons that our operator counted while it joined such streams. The "
    "paper's figure shows formulas only."
)


def _by_windows(scale: Scale) -> FigureData:
    counts = scale.pick((3, 4, 5, 6), (3, 4))
    found: dict[str, dict[float | str, float]] = {"EAGER": {}, "NAIVE": {}, "EAGER, model": {}, "NAIVE, model": {}}
    for count in counts:
        workload = smaller(Workload((ALIKE,) * count), scale)
        for algorithm in (Algorithm.EAGER, Algorithm.NAIVE):
            name = algorithm.name
            found[name][count] = comparisons(workload, algorithm, units=scale.pick(20.0, 2.0))
            found[f"{name}, model"][count] = modelled(workload, algorithm)
    return FigureData(found)


def _by_interval(workload: Workload, scale: Scale) -> FigureData:
    intervals = scale.pick((1, 5, 10, 20, 30, 50), (1, 5))
    workload = smaller(workload, scale)
    names = {"NAIVE": Algorithm.NAIVE, "LAZY": Algorithm.LAZY, "GENERAL": Algorithm.GENERAL_LAZY}
    found: dict[str, dict[float | str, float]] = {}
    for name, algorithm in names.items():
        found[name] = {t: comparisons(workload, algorithm, t, scale.pick(100.0, 10.0)) for t in intervals}
        found[f"{name}, model"] = {t: modelled(workload, algorithm, t) for t in intervals}
    return FigureData(found)


FIGURE_2 = Experiment(
    "GolabOzsu2003-fig2",
    "cost by the number of windows",
    "Walking from the new tuple outwards (EAGER) scales far better with the number of windows than one fixed nesting "
    "of loops for everybody (NAIVE).",
    _WORKLOAD,
    Axis("windows"),
    COST,
    _by_windows,
    (
        below("EAGER", "NAIVE", "EAGER compares less than NAIVE, whatever the number of windows"),
        widens("EAGER", "NAIVE", "the gap grows with the number of windows"),
        alike(
            "EAGER",
            "EAGER, model",
            "what EAGER really compares is what the formula says, within a quarter",
            within=1.25,
        ),
        alike("NAIVE", "NAIVE, model", "so it is for NAIVE", within=1.25),
    ),
)

FIGURE_3A = Experiment(
    "GolabOzsu2003-fig3a",
    "cost by the interval of evaluation, streams alike",
    "Evaluated at an interval, LAZY and GENERAL cost the same, as new tuples are best walked first; costs rise with "
    "the interval, as windows are cleared late. NAIVE costs more, above all at short intervals.",
    _WORKLOAD,
    Axis("interval of evaluation, units of time"),
    COST,
    partial(_by_interval, FOUR),
    (
        alike("LAZY", "GENERAL", "LAZY and GENERAL compare alike, within a tenth", within=1.1),
        below("LAZY", "NAIVE", "LAZY compares less than NAIVE"),
        grows("LAZY, model", "the formula's cost rises with the interval", least=1.01),
        grows("LAZY", "so does what LAZY really compares", least=1.01),
        widens("NAIVE", "LAZY", "NAIVE loses less the longer the interval is"),
    ),
)

FIGURE_3B = Experiment(
    "GolabOzsu2003-fig3b",
    "cost by the interval of evaluation, one fast stream",
    "With a stream ten times as fast, GENERAL is never more expensive than the others, and LAZY is as good as GENERAL "
    "while the interval is short; later GENERAL wins, as it need not put the many new tuples of the fast stream first.",
    _WORKLOAD.replace("a tuple of each stream in one", "a tuple of each stream in one but ten of the fourth"),
    Axis("interval of evaluation, units of time"),
    COST,
    partial(_by_interval, FAST),
    (
        below("GENERAL, model", "LAZY, model", "by the formula GENERAL never costs more than LAZY"),
        below("GENERAL", "LAZY", "nor does it really, but for a twentieth", by=0.95),
        below("GENERAL", "NAIVE", "nor more than NAIVE, but for a twentieth", by=0.95),
        alike(
            "LAZY", "GENERAL", "at the shortest intervals LAZY is as good, within a tenth", within=1.1, where=until(5)
        ),
        widens("GENERAL, model", "LAZY, model", "by the formula GENERAL's lead grows with the interval", by=1.05),
        widens("GENERAL", "LAZY", "so it really does", by=1.05),
    ),
)
