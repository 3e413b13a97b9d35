"""From a plan as written to a blueprint, from which any process can build the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from thalweg.algebra.codec import register
from thalweg.algebra.plan import Plan
from thalweg.core.depth import words_for_depth
from thalweg.core.strings import StringPool
from thalweg.kernel.pipeline.builder import PipelineTemplate
from thalweg.kernel.pipeline.lower import build, lower
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.plan_properties import deletes_early
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.optimizer.estimates import ExpiryApproach
from thalweg.optimizer.optimize import Optimized, optimize
from thalweg.optimizer.statistics import Statistics


@dataclass(frozen=True)
class Blueprint:
    """A plan and how to run it. It can be sent to other processes; equal blueprints build equal pipelines."""

    plan: Plan
    strategy: Strategy = Strategy.AUTO
    settings: Settings = field(default_factory=Settings)

    def lower(self) -> PipelineTemplate:
        """The pipeline before its operators are made."""
        return lower(self.plan, self.strategy, self.settings)

    def build(self, pool: StringPool | None = None) -> Pipeline:
        """A new pipeline."""
        return build(self.plan, self.strategy, pool, self.settings)


register("blueprint", Blueprint)


@dataclass(frozen=True)
class Choice:
    """The blueprint that is run, and the optimiser's report; None if the plan is run as written."""

    blueprint: Blueprint
    optimized: Optimized | None


@words_for_depth()
def choose(
    plan: Plan,
    strategy: Strategy = Strategy.AUTO,
    settings: Settings | None = None,
    statistics: Statistics | None = None,
    in_shards: bool = False,
) -> Choice:
    """The blueprint of a query. Strategies other than `auto` exist for comparison, and run a plan as it is written."""
    settings = settings or Settings()
    if strategy is not Strategy.AUTO or not settings.optimize:
        return Choice(Blueprint(plan, strategy, settings), None)
    found = optimize(plan, statistics, in_shards)
    if settings.above_negation == "auto" and any(map(deletes_early, found.plan.walk())):
        settings = replace(settings, above_negation="hybrid" if found.approach is ExpiryApproach.HYBRID else "direct")
    return Choice(Blueprint(found.plan, strategy, settings), found)
