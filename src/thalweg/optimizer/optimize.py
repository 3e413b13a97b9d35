"""Choosing the plan that runs a query: the cheapest of its alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.plan import Plan, Project, Select, Union
from thalweg.optimizer.alternatives import Alternative, alternatives
from thalweg.optimizer.cost import Costed
from thalweg.optimizer.estimates import ExpiryApproach
from thalweg.optimizer.statistics import Statistics, declared

# Estimates are not exact: plans whose costs are within this ratio count as equally cheap.
SAME_COST_RATIO = 0.9

# If a negation deletes at least this share of its results early, the hybrid approach is faster above it (U7; measured).
HYBRID_FROM_PREMATURE = 0.4


@dataclass(frozen=True)
class Optimized:
    """The plan as written, the chosen alternative, the others, the cheapest first, and what the choice is based on."""

    written: Plan
    chosen: Alternative
    others: tuple[Alternative, ...]
    statistics: Statistics
    approach: ExpiryApproach

    @property
    def plan(self) -> Plan:
        """The plan that runs."""
        return self.chosen.plan

    @property
    def premature(self) -> float:
        """The largest share of results that a negation is expected to delete early and an operator above stores."""
        return _most_premature(self.chosen.costed)


def optimize(plan: Plan, statistics: Statistics | None = None, in_shards: bool = False) -> Optimized:
    """Choose the cheapest alternative. Declarations of sources complete the statistics."""
    known = (statistics or Statistics()).over(declared([plan]))
    found = alternatives(plan, known, in_shards)
    chosen = _best(found)
    others = tuple(sorted((each for each in found if each is not chosen), key=lambda each: each.cost))
    hybrid = _most_premature(chosen.costed) >= HYBRID_FROM_PREMATURE
    return Optimized(plan, chosen, others, known, ExpiryApproach.HYBRID if hybrid else ExpiryApproach.DIRECT)


def _best(found: Sequence[Alternative]) -> Alternative:
    """Of the alternatives about as cheap as the cheapest, the one that stores least; of those, the first."""
    limit = min(each.cost for each in found) / SAME_COST_RATIO
    cheap = [each for each in found if each.cost <= limit]
    best = cheap[0]
    for each in cheap[1:]:
        if each.costed.state < best.costed.state * SAME_COST_RATIO:
            best = each
    return best


def _most_premature(costed: Costed, is_stored: bool = False) -> float:
    """The largest share of early deletions in the plan, counting only results that an operator above stores."""
    own = costed.traffic.premature if is_stored else 0.0
    passes = isinstance(costed.node, Select | Project | Union)
    return max([own, *(_most_premature(child, is_stored or not passes) for child in costed.children)])
