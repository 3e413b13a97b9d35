"""The plan that a query is run by: the cheapest of its alternatives, and why."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.algebra.plan import Plan
from thalweg.optimizer.alternatives import Alternative, alternatives
from thalweg.optimizer.cost import Costed
from thalweg.optimizer.estimate import Ends
from thalweg.optimizer.statistics import Statistics, declared

# How much cheaper another plan must be than the one that rules alone would choose: estimates are no better than that.
MARGIN = 0.9

# From this share of premature deletions on, all ends are told by negative tuples above a negation (U7; measured).
MANY_PREMATURE = 0.4


@dataclass(frozen=True)
class Optimized:
    """What was asked, what is run, what else was looked at, and with which statistics."""

    written: Plan
    chosen: Alternative
    others: tuple[Alternative, ...]
    statistics: Statistics
    ends: Ends

    @property
    def plan(self) -> Plan:
        """What is run."""
        return self.chosen.plan

    @property
    def premature(self) -> float:
        """The largest share of results that a negation is expected to delete before their time."""
        return most_premature(self.chosen.costed)


def optimize(plan: Plan, statistics: Statistics | None = None, in_shards: bool = False) -> Optimized:
    """The cheapest alternative; what declarations say completes the statistics."""
    known = (statistics or Statistics()).over(declared([plan]))
    found = alternatives(plan, known, in_shards)
    chosen = found[0]
    for other in found[1:]:
        limit = chosen.cost * (MARGIN if chosen is found[0] else 1.0)
        if other.cost < limit:
            chosen = other
    others = tuple(sorted((each for each in found if each is not chosen), key=lambda each: each.cost))
    many = most_premature(chosen.costed) >= MANY_PREMATURE
    return Optimized(plan, chosen, others, known, Ends.HYBRID if many else Ends.DIRECT)


def most_premature(costed: Costed) -> float:
    """The largest share of premature deletions below; 0 where nothing is deleted early."""
    return max(each.flow.premature for each in costed.walk())
