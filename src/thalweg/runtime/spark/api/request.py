"""A query as a user asks for it, and the choice of the plan that is run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.choice import Choice, choose
from thalweg.kernel.pipeline.partial_aggregates import PARTIAL_AGGREGATES_FROM_TICKS
from thalweg.optimizer.statistics import Statistics
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice


@dataclass(frozen=True)
class QueryRequest:
    """What a user asks for: a plan as written, how to run it, and statistics of its sources."""

    plan: Plan
    strategy: Strategy
    settings: Settings
    statistics: Statistics = field(default_factory=Statistics)

    def choose(self, pinned: PinnedChoice | None = None) -> Choice:
        """The plan that is run: chosen now, or as it was `pinned` when the query first started."""
        statistics = self.statistics if pinned is None else pinned.statistics
        settings = self.settings
        if pinned is not None:
            settings = replace(settings, in_parts=pinned.in_parts)
        elif settings.in_parts is None and settings.optimize and self.strategy is Strategy.AUTO:
            settings = replace(settings, in_parts=PARTIAL_AGGREGATES_FROM_TICKS)
        return choose(self.plan, self.strategy, settings, statistics, in_shards=True)
