"""What can be set about how a query is run. No answer depends on it, but for the delay that `eager` promises."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from thalweg.core.errors import PlanError
from thalweg.planner.queued.scheduler import Fifo, RoundRobin, Scheduler

SCHEDULERS = ("fifo", "round-robin")
ABOVE_NEGATION = ("auto", "direct", "partitions", "hybrid")


@dataclass(frozen=True)
class Settings:
    """Intervals are in ticks; 0 means at once.

    `partitions` of a buffer by expiry (U6). `lazy`: how often state that nothing waits for is cleared of what has
    ended. `eager`: how often operators that must react to an end are told the time (queued strategies); answers come
    that much later at most (U3). `scheduler` and `slot`, the items an operator may take in its turn, are those of
    queued strategies (N6).

    `above_negation`: how results that a negation may delete before their time are told and kept above it (U7):
    "direct" with the ends that they have, hashed on their keys, "partitions" the same in partitions by exp, "hybrid"
    all ends by negative tuples. "auto" is "direct", or "hybrid" where most are expected to be deleted.
    """

    partitions: int = 10
    lazy: int = 0
    eager: int = 0
    scheduler: str = "fifo"
    slot: int = 16
    above_negation: str = "auto"

    def __post_init__(self) -> None:
        for name, least in (("partitions", 1), ("lazy", 0), ("eager", 0), ("slot", 1)):
            if getattr(self, name) < least:
                raise PlanError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if self.partitions > 10_000:
            raise PlanError(f"a buffer has at most 10000 partitions, not {self.partitions}")
        if self.scheduler not in SCHEDULERS:
            raise PlanError(f"there is no scheduler {self.scheduler!r}", candidates=SCHEDULERS)
        if self.above_negation not in ABOVE_NEGATION:
            raise PlanError(f"above_negation cannot be {self.above_negation!r}", candidates=ABOVE_NEGATION)

    def make_scheduler(self) -> Scheduler:
        """The scheduler that is set; its slots are counted in items, so that runs can be repeated."""
        if self.scheduler == "fifo":
            return Fifo()
        calls = count()
        return RoundRobin(self.slot, lambda: float(next(calls)))
