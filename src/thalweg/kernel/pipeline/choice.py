"""From a query as written to what is run: the plan that the optimiser chooses, and settings that it decides."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.shape import deletes_early
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.optimizer.estimate import Ends
from thalweg.optimizer.optimize import Optimized, optimize
from thalweg.optimizer.statistics import Statistics


@dataclass(frozen=True)
class Choice:
    """What is run, and how it was chosen; None if it is run as written."""

    blueprint: Blueprint
    optimized: Optimized | None


def choose(
    plan: Plan,
    strategy: Strategy = Strategy.AUTO,
    settings: Settings | None = None,
    statistics: Statistics | None = None,
    in_shards: bool = False,
) -> Choice:
    """The blueprint for a query. Strategies other than `auto` are for comparison, and run a plan as it is written."""
    settings = settings or Settings()
    if strategy is not Strategy.AUTO or not settings.optimize:
        return Choice(Blueprint(plan, strategy, settings), None)
    found = optimize(plan, statistics, in_shards)
    if settings.above_negation == "auto" and any(map(deletes_early, found.plan.walk())):
        settings = replace(settings, above_negation="hybrid" if found.ends is Ends.HYBRID else "direct")
    return Choice(Blueprint(found.plan, strategy, settings), found)
