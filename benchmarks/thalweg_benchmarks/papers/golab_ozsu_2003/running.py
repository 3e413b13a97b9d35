"""Run joins of windows as in GolabOzsu2003, given rates, extents and distinct values; count comparisons, take times."""

from __future__ import annotations

from functools import cache

from thalweg.core.stream_statistics import StreamStatistics
from thalweg.kernel.pipeline import Settings
from thalweg.optimizer.join_orders import Algorithm, CostModel, choose_orders
from thalweg_benchmarks.joins.workload import JoinTiming, Workload, measure
from thalweg_benchmarks.papers.experiment import Scale

NESTED_LOOPS, HASH, HYBRID = "nested-loops", "hash", "hybrid"


def statistics(workload: Workload) -> list[StreamStatistics]:
    """Statistics of the streams for the cost model."""
    return [StreamStatistics(rate, rate * extent, (float(values),)) for rate, extent, values in workload.streams]


def smaller(workload: Workload, scale: Scale) -> Workload:
    """The workload, with a tenth of the windows' extents in a quick run."""
    share = scale.pick(1.0, 0.1)
    return Workload(tuple((rate, share * extent, values) for rate, extent, values in workload.streams))


def modelled(workload: Workload, algorithm: Algorithm, interval: float = 0.0) -> float:
    """Comparisons per unit of time with the best orders, by the formulas of section 4.2."""
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
) -> JoinTiming:
    """Run a join over `units` units of time, after its windows have filled.

    A batch of an eager join has the tuples of `together` units of time (0: one tuple), a batch of a lazy join those
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
    """Comparisons per unit of time in a run where the join chooses its orders."""
    return measured(workload, algorithm, interval=interval, together=0.0, units=units).comparisons * workload.ticks


def rate(run: JoinTiming) -> float:
    """Tuples per second of all streams: the greatest input rate."""
    return 1.0 / run.seconds
