"""How a query on Spark runs: the plan, its costs, its streams, tables and stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.algebra.plan import Plan
from thalweg.explain import choice_json, choice_text, explain_json, explain_text, plans_text
from thalweg.explain.choice import Analysis
from thalweg.kernel.pipeline.blueprint import Choice
from thalweg.optimizer.optimize import Optimized
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.spark.api.inputs import StreamInput, TableInput
from thalweg.runtime.spark.compile.explain import as_lines, explain_stages, explain_streams, explain_tables
from thalweg.runtime.spark.compile.query_frame import columns_read
from thalweg.runtime.spark.tasks.stateless import is_stateless


@dataclass(frozen=True)
class Explanation:
    """The chosen plan, if plans were compared, and what Spark runs."""

    chosen: Optimized | None
    streams: Any
    tables: Any
    stages: Any

    def as_json(self, plan: Plan, measured: Analysis | None) -> dict[str, Any]:
        """For programs; `measured` stands beside the estimates."""
        choice = {} if self.chosen is None else {"choice": choice_json(self.chosen, measured)}
        own = {"streams": self.streams, "tables": self.tables, "stages": self.stages}
        return {**explain_json(plan), **choice, **own}

    def as_text(self, plan: Plan, measured: Analysis | None, plans: bool) -> str:
        """For people; with `plans`, all plans that were compared."""
        found = self.chosen
        chosen = "" if found is None else "\n" + (plans_text(found) if plans else choice_text(found, measured))
        return explain_text(plan) + chosen + "\n\n" + "\n".join(as_lines(self.streams, self.tables, self.stages))


def explain_choice(
    choice: Choice, streams: Sequence[StreamInput], tables: Sequence[TableInput], broadcast: frozenset[str], shards: int
) -> Explanation:
    """What runs for a chosen plan that reads these streams and tables."""
    blueprint = choice.blueprint
    pipeline = blueprint.build()
    parts = cut(pipeline, broadcast)
    needed = columns_read(blueprint.plan, blueprint.lower(), parts)
    times = {stream.stream.name: stream.time for stream in streams}
    at_once = not tables and is_stateless(blueprint, parts, times)
    stages = explain_stages(pipeline, parts, shards, at_once)
    return Explanation(
        choice.optimized, explain_streams(streams, blueprint.plan, needed), explain_tables(tables), stages
    )
