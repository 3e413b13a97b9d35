"""The identity of a pipeline: a snapshot fits only the plan and the strategy that it was taken of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import Plan, drawn
from thalweg.core.errors import SnapshotError


@dataclass(frozen=True)
class Identity:
    """A plan as readable text, a digest of the plan, and the strategy that runs it."""

    plan: str
    digest: str
    strategy: str

    @staticmethod
    def of(plan: Plan, strategy: str) -> Identity:
        """The identity of a plan under a strategy; equal plans have equal identities, in every process."""
        return Identity(drawn(plan), digest(plan), strategy)

    def as_tree(self) -> dict[str, str]:
        """The identity as part of a snapshot."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def check(self, tree: object) -> None:
        """Raise a SnapshotError if the identity in a snapshot differs from this one."""
        if not isinstance(tree, Mapping) or {f.name for f in fields(self)} - tree.keys():
            raise SnapshotError("expected the snapshot of a pipeline, but it has no identity of a plan")
        if tree["digest"] != self.digest:
            raise SnapshotError(
                f"expected a snapshot of the plan\n{self.plan}\n({self.digest[:12]}), but it was taken of\n"
                f"{tree['plan']}\n({tree['digest'][:12]})",
                hint="build the pipeline from the plan of the snapshot",
            )
        if tree["strategy"] != self.strategy:
            raise SnapshotError(
                f"expected a snapshot of strategy {self.strategy}, but it was taken of strategy {tree['strategy']}",
                hint=f"run the plan with strategy {tree['strategy']}",
            )
