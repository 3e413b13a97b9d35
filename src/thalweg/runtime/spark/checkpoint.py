"""A query's checkpoint folder: what lies where, and whose it is.

query.json   the plan, the strategy and the number of shards
spark/       Spark's own: offsets and commits
state/       a folder per stage and shard: run files and manifests
tables/      tables as they were when the query first started
control/     commands to the running query
heartbeat    if there: one of the query's sources brings nothing but the time
aside/       late and bad rows
answers/     the changes of the answer, if no other sink was given
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.core.errors import CheckpointError
from thalweg.planner.identity import Identity
from thalweg.runtime.shards.files import replace_file
from thalweg.runtime.shards.store import ShardStore, shard_folder


@dataclass(frozen=True)
class Checkpoint:
    """The folder. It must be reachable by all of Spark's workers."""

    folder: Path

    @property
    def spark(self) -> Path:
        """Spark's own checkpoint."""
        return self.folder / "spark"

    @property
    def answers(self) -> Path:
        """The changes of the answer."""
        return self.folder / "answers"

    @property
    def control(self) -> Path:
        """Commands."""
        return self.folder / "control"

    @property
    def heartbeat(self) -> Path:
        """There if the query has a heartbeat."""
        return self.folder / "heartbeat"

    @property
    def tables(self) -> Path:
        """Tables as they were."""
        return self.folder / "tables"

    @property
    def committed(self) -> int:
        """The last batch that is done for good; -1 if none is."""
        commits = self.spark / "commits"
        return max((int(p.name) for p in commits.glob("*") if p.name.isdecimal()), default=-1)

    def has_done(self, batch: int, stage: int, shards: int) -> bool:
        """Whether all shards of a stage have put down their state after a batch."""
        folders = (shard_folder(self.folder, stage, shard) for shard in range(shards))
        return all(ShardStore(folder).has(batch) for folder in folders)

    def claim(self, identity: Identity, shards: int) -> None:
        """Make the folder the query's, or see that it is."""
        path = self.folder / "query.json"
        mine = {"version": 1, **identity.as_tree(), "shards": shards}
        if not path.exists():
            if self.spark.exists():
                raise CheckpointError(
                    f"{path} is missing, though {self.folder} holds a checkpoint",
                    hint="restore it, or choose another folder",
                )
            replace_file(path, json.dumps(mine, indent=2).encode())
            return
        theirs = self.about()
        if theirs.get("digest") != identity.digest or theirs.get("strategy") != identity.strategy:
            raise CheckpointError(
                f"{self.folder} is the checkpoint of another query:\n{theirs.get('plan')}\n"
                f"(strategy {theirs.get('strategy')}), but this one is\n{identity.plan}\n"
                f"(strategy {identity.strategy})",
                hint="choose another folder, or start the query that it belongs to",
            )
        if theirs.get("shards") != shards:
            raise CheckpointError(
                f"{self.folder} holds {theirs.get('shards')} shards, but the query is to run in {shards}",
                hint=f"start it with shards={theirs.get('shards')}",
            )

    def about(self) -> dict[str, Any]:
        """What the folder says about its query."""
        path = self.folder / "query.json"
        try:
            about: dict[str, Any] = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise CheckpointError(f"{self.folder} is no checkpoint of a query: it has no query.json") from None
        except ValueError as error:
            raise CheckpointError(f"{path} cannot be read: {error}", hint="restore it from a backup") from error
        if about.get("version") != 1:
            raise CheckpointError(
                f"{path} has format {about.get('version')}, but this version of Thalweg reads format 1",
                hint="go on with the version that wrote it, or start the query anew",
            )
        return about
