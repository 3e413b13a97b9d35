"""query.json: the query that a checkpoint belongs to, and the choices that were pinned at its first start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import Plan, drawn
from thalweg.core.errors import CheckpointError
from thalweg.kernel.pipeline.identity import Identity
from thalweg.optimizer.statistics import Statistics
from thalweg.runtime.distributed.checkpoint.checksums import WRONG_SHAPE, damaged, open_json, sealed_json
from thalweg.runtime.distributed.checkpoint.files import read_bytes, replace_file

QUERY_FILE = "query.json"
VERSION = 6
_WITHOUT_CHECKSUM = 5  # the version before, which is still read


@dataclass(frozen=True)
class PinnedChoice:
    """The optimiser's choices at the first start of a query. The layout of its state depends on them, so they stay.

    These are the tables that are broadcast to every group, the statistics by which the plan was chosen, and the digest
    of that plan. `in_parts` is the setting of that name; older checkpoints do not have it.
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
        """The inverse of `to_json`."""
        statistics = Statistics.from_json(tree["statistics"])
        return PinnedChoice(frozenset(tree["broadcast"]), statistics, tree["runs"], tree.get("in_parts"))


@dataclass(frozen=True)
class QueryFile:
    """The contents of query.json. The strategy of a flow is "flow", and its plan says what the flow reads."""

    identity: Identity
    pinned_choice: PinnedChoice

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a folder has the file, and so is a checkpoint."""
        return (folder / QUERY_FILE).exists()

    @staticmethod
    def read(folder: Path) -> QueryFile:
        """The file of a checkpoint; a CheckpointError says what is wrong with it."""
        path = folder / QUERY_FILE
        try:
            tree = open_json(path, read_bytes(path), VERSION)
        except FileNotFoundError:
            raise no_checkpoint(folder) from None
        if tree.get("version") not in (VERSION, _WITHOUT_CHECKSUM):
            raise CheckpointError(
                f"{path} has format {tree.get('version')}, but this version of Thalweg reads format {VERSION}",
                hint="go on with the version that wrote it, or start the query anew",
            )
        try:
            identity = Identity(tree["plan"], tree["digest"], tree["strategy"])
            return QueryFile(identity, PinnedChoice.from_json(tree["pinned_choice"]))
        except WRONG_SHAPE as error:
            raise damaged(path, repr(error)) from error

    def write(self, folder: Path) -> None:
        """Write the file atomically."""
        tree = {"version": VERSION, **self.identity.as_tree(), "pinned_choice": self.pinned_choice.to_json()}
        replace_file(folder / QUERY_FILE, sealed_json(tree, indent=2))

    def check(self, identity: Identity, folder: Path) -> None:
        """Raise a CheckpointError if the checkpoint belongs to another query."""
        if (self.identity.digest, self.identity.strategy) == (identity.digest, identity.strategy):
            return
        mine, other = (f"{one.plan}\n(strategy {one.strategy})" for one in (identity, self.identity))
        if mine == other:
            mine = "the same, but over streams or tables that were declared otherwise (columns, lateness, keys)"
        raise CheckpointError(
            f"{folder} is the checkpoint of another query:\n{other}, but this one is\n{mine}",
            hint="choose another folder, or start the query that it belongs to",
        )


def no_checkpoint(folder: Path) -> CheckpointError:
    """The error for a folder without the file."""
    return CheckpointError(f"{folder} is no checkpoint of a query: it has no {QUERY_FILE}")
