"""Settings of how a query is run. No answer depends on them, except for promised delays (`eager`, `reevaluate`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from thalweg.algebra.codec import register
from thalweg.core.errors import PlanError
from thalweg.kernel.pipeline.queued.scheduler import Fifo, RoundRobin, Scheduler
from thalweg.optimizer.join_orders import Algorithm, Method

SCHEDULERS = ("fifo", "round-robin")
ABOVE_NEGATION = ("auto", "direct", "partitions", "hybrid")
JOINS = tuple(method.value for method in Method)
MOST_RESULTS = 1 << 26  # about 4 GB of tuples with five columns
ALGORITHMS = tuple(algorithm.value for algorithm in Algorithm)


@dataclass(frozen=True)
class Settings:
    """Settings of a query. Intervals are in ticks; 0 means at once. Without `optimize` a plan is run as it is written.

    `partitions`: of a buffer by expiration time (U6). `lazy`: how often ended tuples are dropped from buffers. `eager`:
    how often operators that must react to ends learn the time in queued strategies; answers are at most so much later
    (U3). `scheduler` and `slot` (items that an operator may take at a time) apply to queued strategies (N6).

    `above_negation`: how plans above a negation handle results that it may delete before their ends (U7). "direct":
    results carry their ends, and joins keep them in hash buffers; "partitions": the same, with partitions by end;
    "hybrid": negative tuples end all results. "auto" is "direct", or "hybrid" if most results are expected to be
    deleted before their ends.

    Multi-way joins (GolabOzsu2003): `join` says how partners are found ("hash", "nested-loops", or "hybrid" with an
    index on the inputs at the positions `indexed`); `algorithm` in which order new tuples are joined with the other
    windows; `reevaluate` is the interval between evaluations (M3; results are at most so much later); `order` the
    positions of the inputs in join order; `drift` the factor by which rates, sizes or distinct values must change
    before another order is chosen.

    `in_parts`: aggregates without keys are computed by partial aggregation, in all shards, if windows slide by at least
    so many ticks, or (MIN and MAX) are at least so wide; None: never.

    `most_results`: how many results of a join may exist at a time, where an operator or the answer needs all results of
    a batch. A batch with more raises an error that names the join and its hottest key.
    """

    partitions: int = 10
    lazy: int = 0
    eager: int = 0
    scheduler: str = "fifo"
    slot: int = 16
    optimize: bool = True
    above_negation: str = "auto"
    join: str = "hash"
    algorithm: str = "eager"
    reevaluate: int = 0
    drift: float = 2.0
    order: tuple[int, ...] | None = None
    indexed: tuple[int, ...] | None = None
    in_parts: int | None = None
    most_results: int = MOST_RESULTS

    def __post_init__(self) -> None:
        for name, least in (
            ("partitions", 1),
            ("lazy", 0),
            ("eager", 0),
            ("slot", 1),
            ("reevaluate", 0),
            ("most_results", 1),
        ):
            if getattr(self, name) < least:
                raise PlanError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if self.partitions > 10_000:
            raise PlanError(f"partitions must be at most 10000, not {self.partitions}")
        if self.scheduler not in SCHEDULERS:
            raise PlanError(f"there is no scheduler {self.scheduler!r}", candidates=SCHEDULERS)
        if self.above_negation not in ABOVE_NEGATION:
            raise PlanError(f"above_negation cannot be {self.above_negation!r}", candidates=ABOVE_NEGATION)
        self._check_joins()

    def _check_joins(self) -> None:
        for name, known in (("join", JOINS), ("algorithm", ALGORITHMS)):
            if getattr(self, name) not in known:
                raise PlanError(f"there is no {name} {getattr(self, name)!r}", candidates=known)
        if self.reevaluate and self.algorithm == Algorithm.EAGER.value:
            raise PlanError(
                f"the algorithm eager evaluates a join with every arrival, not every {self.reevaluate} ticks",
                hint='algorithm="lazy" or "general-lazy" go with reevaluate',
            )
        if not self.drift > 1.0:
            raise PlanError(f"drift is a factor greater than 1, not {self.drift}", hint='float("inf") never re-orders')

    def make_scheduler(self) -> Scheduler:
        """A new scheduler; its slots are counted in items, so that runs can be repeated."""
        if self.scheduler == "fifo":
            return Fifo()
        calls = count()
        return RoundRobin(self.slot, lambda: float(next(calls)))


register("settings", Settings)
