"""The plan that a query is run by: the cheapest of its alternatives, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.plan import Plan, Project, Select, Union
from thalweg.optimizer.alternatives import Alternative, alternatives
from thalweg.optimizer.cost import Costed
from thalweg.optimizer.estimate import Ends
from thalweg.optimizer.statistics import Statistics, declared

# Estimates are no better than that: what costs a tenth more may cost the same.
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
        """The largest share of results that a negation is expected to delete before their time, if any are stored."""
        return _most_premature(self.chosen.costed)


def optimize(plan: Plan, statistics: Statistics | None = None, in_shards: bool = False) -> Optimized:
    """The cheapest alternative; what declarations say completes the statistics."""
    known = (statistics or Statistics()).over(declared([plan]))
    found = alternatives(plan, known, in_shards)
    chosen = _best(found)
    others = tuple(sorted((each for each in found if each is not chosen), key=lambda each: each.cost))
    many = _most_premature(chosen.costed) >= MANY_PREMATURE
    return Optimized(plan, chosen, others, known, Ends.HYBRID if many else Ends.DIRECT)


def _best(found: Sequence[Alternative]) -> Alternative:
    """Of those that cost about as little as the cheapest, the one that stores least; then the first."""
    limit = min(each.cost for each in found) / MARGIN
    cheap = [each for each in found if each.cost <= limit]
    best = cheap[0]
    for each in cheap[1:]:
        if each.costed.state < best.costed.state * MARGIN:
            best = each
    return best


def _most_premature(costed: Costed, is_stored: bool = False) -> float:
    """The largest share of premature deletions below, where results are stored by an operator above."""
    mine = costed.flow.premature if is_stored else 0.0
    passes = isinstance(costed.node, Select | Project | Union)
    return max([mine, *(_most_premature(child, is_stored or not passes) for child in costed.children)])
