"""The choices of the optimiser that are pinned when a query first starts: its state is laid out accordingly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import Plan, drawn
from thalweg.core.errors import CheckpointError
from thalweg.optimizer.statistics import Statistics


@dataclass(frozen=True)
class PinnedChoice:
    """The tables that are broadcast to every group, the statistics that the plan was chosen by, and its digest.

    `in_parts` is the setting of that name; older checkpoints do not have it.
    """

    broadcast: frozenset[str] = frozenset()
    statistics: Statistics = field(default_factory=Statistics)
    runs: str | None = None
    in_parts: int | None = None

    def check(self, plan: Plan) -> None:
        """Raise a CheckpointError if the same statistics lead to another plan today."""
        if self.runs is not None and self.runs != digest(plan):
            raise CheckpointError(
                f"the checkpoint's state is that of another plan for the same query; today's would be\n{drawn(plan)}",
                hint="another version of Thalweg has chosen it: go on with that one, or start the query anew",
            )

    def to_json(self) -> dict[str, Any]:
        """For query.json."""
        return {
            "broadcast": sorted(self.broadcast),
            "statistics": self.statistics.as_json(),
            "runs": self.runs,
            "in_parts": self.in_parts,
        }

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> PinnedChoice:
        """What `to_json` gave."""
        statistics = Statistics.from_json(tree["statistics"])
        return PinnedChoice(frozenset(tree["broadcast"]), statistics, tree["runs"], tree.get("in_parts"))
