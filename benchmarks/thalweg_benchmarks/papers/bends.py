"""Where a curve bends: the step from one x to the next over which it changes most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from thalweg_benchmarks.papers.claims import number
from thalweg_benchmarks.papers.experiment import Experiment, Series, X


def bends(experiment: Experiment, series: Series) -> dict[str, str]:
    """For each curve that the experiment explains, where it bends in these numbers, and why."""
    return {
        f"where *{name}* bends": f"{_bend(series[name])}; {why}"
        for name, why in experiment.bends.items()
        if len(series[name]) > 1
    }


def _bend(points: Mapping[X, float]) -> str:
    """The steepest step, by the logarithm of the ratio of two neighbours."""
    steps = list(pairwise(points.items()))
    (left, before), (right, after) = max(steps, key=lambda step: abs(math.log(step[1][1] / step[0][1])))
    return f"most between {number(left)} and {number(right)}, to {after / before:.2g} of the rate"
