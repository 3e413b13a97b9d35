"""Joins of windows as in GolabOzsu2003, by rate, extent and distinct values; comparisons and time of a run."""

from __future__ import annotations

from functools import cache

from thalweg.core.stream_statistics import StreamStatistics
from thalweg.kernel.pipeline import Settings
from thalweg.optimizer.join_orders import Algorithm, CostModel, choose_orders
from thalweg_benchmarks.joins.workload import Measured, Workload, measure
from thalweg_benchmarks.papers.experiment import Scale

NESTED_LOOPS, HASH, HYBRID = "nested-loops", "hash", "hybrid"


def statistics(workload: Workload) -> list[StreamStatistics]:
    """What the cost model is told of the streams."""
    return [StreamStatistics(rate, rate * extent, (float(values),)) for rate, extent, values in workload.streams]


def smaller(workload: Workload, scale: Scale) -> Workload:
    """A tenth of the windows' extents in a quick run."""
    share = scale.pick(1.0, 0.1)
    return Workload(tuple((rate, share * extent, values) for rate, extent, values in workload.streams))


def modelled(workload: Workload, algorithm: Algorithm, interval: float = 0.0) -> float:
    """Comparisons per unit of time of the best order, by the formulas of section 4.2."""
    streams = statistics(workload)
    orders = choose_orders(streams, algorithm, frozenset(), interval)
    return CostModel.nested_loops(streams, interval).local_orders(orders)


@cache
def measured(
    workload: Workload,
    algorithm: Algorithm = Algorithm.EAGER,
    *,
    interval: float = 0.0,
    method: str = NESTED_LOOPS,
    order: tuple[int, ...] | None = None,
    indexed: tuple[int, ...] | None = None,
    together: float = 1.0,
    units: float = 20.0,
    rounds: int = 1,
) -> Measured:
    """A run over so many units of time, after the windows have filled.

    An eager join gets what comes in `together` units of time at once (0: every tuple by itself), a lazy one what comes
    between two evaluations.
    """
    reevaluate = round(interval * workload.ticks)
    settings = Settings(
        join=method, algorithm=algorithm.value, reevaluate=reevaluate, order=order, indexed=indexed, optimize=False
    )
    batch = reevaluate or max(1, round(together * workload.ticks))
    batches = max(1, round(units * workload.ticks / batch))
    return measure(workload, workload.join(), settings, batch=batch, batches=batches, rounds=rounds)


def comparisons(workload: Workload, algorithm: Algorithm, interval: float = 0.0, units: float = 20.0) -> float:
    """Comparisons per unit of time of a run in which the join chooses its own orders."""
    return measured(workload, algorithm, interval=interval, together=0.0, units=units).comparisons * workload.ticks


def rate(run: Measured) -> float:
    """Tuples in a second, all streams together: what could be put in at most."""
    return 1.0 / run.seconds
