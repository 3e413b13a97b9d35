"""What can be set about how a query is run. No answer depends on it but for promised delays (`eager`, `reevaluate`)."""

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
ALGORITHMS = tuple(algorithm.value for algorithm in Algorithm)


@dataclass(frozen=True)
class Settings:
    """Intervals are in ticks; 0 means at once. Without `optimize` a plan is run as it is written.

    `partitions` of a buffer by expiry (U6). `lazy`: how often state that nothing waits for is cleared of what has
    ended. `eager`: how often operators that must react to an end are told the time (queued strategies); answers come
    that much later at most (U3). `scheduler` and `slot`, the items an operator may take in its turn, are those of
    queued strategies (N6).

    `above_negation`: how results that a negation may delete before their time are told and kept above it (U7):
    "direct" with the ends that they have, hashed on their keys, "partitions" the same in partitions by exp, "hybrid"
    all ends by negative tuples. "auto" is "direct", or "hybrid" where most are expected to be deleted.

    Of multi-way joins (GolabOzsu2003): `join` says how to find partners ("hash", "nested-loops", or "hybrid" with an
    index on the inputs at the positions `indexed`), `algorithm` how new tuples are walked through the other windows,
    `reevaluate` how often that is done (M3; results come that much later at most), `order` the positions of the inputs
    in the order to walk them, `drift` the factor by which rates, sizes or distinct values change before another order
    is looked for.

    `in_parts`: aggregates without keys are computed of parts of their tuples first, in all shards, where windows move
    by so many ticks at a time, or (MIN and MAX) reach so far; None: nowhere.
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

    def __post_init__(self) -> None:
        for name, least in (("partitions", 1), ("lazy", 0), ("eager", 0), ("slot", 1), ("reevaluate", 0)):
            if getattr(self, name) < least:
                raise PlanError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if self.partitions > 10_000:
            raise PlanError(f"a buffer has at most 10000 partitions, not {self.partitions}")
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
        """The scheduler that is set; its slots are counted in items, so that runs can be repeated."""
        if self.scheduler == "fifo":
            return Fifo()
        calls = count()
        return RoundRobin(self.slot, lambda: float(next(calls)))


register("settings", Settings)
