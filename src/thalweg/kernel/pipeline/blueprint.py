"""Everything that is needed to build a pipeline, in any process."""

from __future__ import annotations

from dataclasses import dataclass, field

from thalweg.algebra.codec import register
from thalweg.algebra.plan import Plan
from thalweg.core.strings import StringPool
from thalweg.kernel.pipeline.builder import PipelineTemplate
from thalweg.kernel.pipeline.lower import build, lower
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.strategy import Strategy


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
