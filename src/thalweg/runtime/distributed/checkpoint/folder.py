"""A query's checkpoint folder: the files in it, and the query that it belongs to.

query.json   the plan and the strategy, and the choices that were pinned when the query first started
layouts.json the number of groups, and which batches were run in how many shards
spark/       Spark's own: offsets and commits
state/       a folder per stage, layout and shard: run files and manifests
exchange/    large blobs on their way between the tasks of the last batches
tables/      tables as they were when the query first started
control/     commands to the running query
commands/    of a flow: queries to add and drop; begin.json those it began with, flow.json its streams and tables
heartbeat    if there: one of the query's sources brings nothing but the time
side_outputs/  late and bad rows
answers/     the changes of the answer, if no other sink was given
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from thalweg.core.errors import CheckpointError, PlanError
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.layouts import Layouts, remove_dropped, shard_folder, usual_groups
from thalweg.runtime.distributed.checkpoint.manifest import clock_after, manifest_path, read_manifest
from thalweg.runtime.distributed.checkpoint.pinned_choice import PinnedChoice
from thalweg.runtime.distributed.checkpoint.report import ShardReport

VERSION = 5
CONTROL_CLOCK = "clock"  # of a command in `control`: the time that is to come, or null


@dataclass(frozen=True)
class Asked:
    """Into how many shards and groups a query is to be split.

    Without a number of shards it goes on as it was, or begins with one for each of Spark's `cores`. Groups are fixed
    when it first starts.
    """

    cores: int
    shards: int | None = None
    groups: int | None = None

    def first(self) -> Layouts:
        """For a query that has not run before."""
        shards = self.shards or self.cores
        groups = usual_groups(shards) if self.groups is None else self.groups
        if groups < shards:
            raise PlanError(
                f"keys cannot be spread over {groups} groups in {shards} shards: a shard holds one group or more",
                hint=f"ask for groups={usual_groups(shards)}, or for fewer shards",
            )
        return Layouts(groups, ()).changed(0, shards)


@dataclass(frozen=True)
class Checkpoint:
    """The folder. It must be reachable by all of Spark's workers."""

    folder: Path

    @staticmethod
    def at(place: str | Path) -> Checkpoint:
        """The checkpoint at a path, or at a file: address; other file systems are refused (decision 0022)."""
        scheme, marked, rest = str(place).partition(":/")
        if not marked or not scheme.isalnum():
            return Checkpoint(Path(place).absolute())
        if scheme.lower() == "file":
            return Checkpoint(Path("/" + rest.lstrip("/")))
        raise CheckpointError(
            f"a checkpoint is a folder that every worker can reach by its path, not {place}",
            hint="mount the storage on all machines (NFS, CephFS, Lustre ...) and give the path",
        )

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

    @property
    def layouts(self) -> Layouts:
        """How the query's groups have lain in shards so far."""
        return Layouts.read(self.folder)

    def shards(self, batch: int, stage: int) -> list[Path]:
        """The folders of a stage's shards that hold the state after a batch."""
        layout = self.layouts.at(batch)
        return [shard_folder(self.folder, stage, layout, shard) for shard in range(layout.shards)]

    def has_done(self, batch: int, stage: int) -> bool:
        """Whether all shards of a stage have saved their state after a batch."""
        return all(manifest_path(folder, batch).exists() for folder in self.shards(batch, stage))

    def reports_after(self, batch: int, stage: int = 0) -> list[ShardReport]:
        """The reports of a stage's shards after a batch."""
        return [read_manifest(folder, batch).report for folder in self.shards(batch, stage)]

    def reports(self, stage: int = 0) -> list[ShardReport]:
        """The reports of a stage's shards after the last batch that is done; none before the first."""
        while (done := self.committed) >= 0:
            try:
                return self.reports_after(done, stage)
            except CheckpointError:
                if self.committed == done:  # else the query went on, and has removed the manifests in the meantime
                    raise
        return []

    def clock_after(self, batch: int) -> Instant:
        """The query's clock after a batch: the answer is known up to here."""
        return clock_after(self.shards(batch, stage=0)[0], batch)

    def command(self, clock: Instant | None) -> None:
        """Tell the running query to let time pass up to `clock`, or, with None, that nothing more will come."""
        name = f"{datetime.now().strftime('%Y%m%d%H%M%S%f')}-{uuid4().hex[:6]}.json"
        replace_file(self.control / name, json.dumps({CONTROL_CLOCK: clock}).encode() + b"\n")

    @property
    def is_claimed(self) -> bool:
        """Whether it belongs to a query."""
        return (self.folder / "query.json").exists()

    @property
    def pinned_choice(self) -> PinnedChoice:
        """The choices that were pinned when the query first started."""
        return PinnedChoice.from_json(self.about()["pinned_choice"])

    def claim(self, identity: Identity, asked: Asked, choice: PinnedChoice | None = None) -> Layouts:
        """Make the folder the query's, or see that it is; from the next batch on it has as many shards as asked for.

        The choices that were pinned when the query first started stay.
        """
        path = self.folder / "query.json"
        if self.is_claimed:
            self._check(identity)
            return self._laid_out(asked)
        if self.spark.exists():
            raise CheckpointError(
                f"{path} is missing, though {self.folder} holds a checkpoint",
                hint="restore it, or choose another folder",
            )
        layouts = asked.first()
        layouts.write(self.folder)
        about = {"version": VERSION, **identity.as_tree(), "pinned_choice": (choice or PinnedChoice()).to_json()}
        replace_file(path, json.dumps(about, indent=2).encode())
        return layouts

    def _laid_out(self, asked: Asked) -> Layouts:
        """The layouts, with the one for the batches to come; what of the next batch was done in another counts no more.

        Spark goes on with the batch after the last that it has committed, planned or not.
        """
        known = self.layouts
        if asked.groups not in (None, known.groups):
            raise CheckpointError(
                f"{self.folder} spreads keys over {known.groups} groups, but groups={asked.groups} was asked for",
                hint="leave out groups: their number is fixed when a query is first started",
            )
        layouts = known.changed(self.committed + 1, asked.shards or known.last.shards)
        if layouts != known:
            layouts.write(self.folder)
            remove_dropped(self.folder, known.history, layouts.history)
        return layouts

    def _check(self, identity: Identity) -> None:
        theirs = self.about()
        if theirs.get("digest") != identity.digest or theirs.get("strategy") != identity.strategy:
            mine = f"{identity.plan}\n(strategy {identity.strategy})"
            other = f"{theirs.get('plan')}\n(strategy {theirs.get('strategy')})"
            if mine == other:
                mine = "the same, but over streams or tables that were declared otherwise (columns, lateness, keys)"
            raise CheckpointError(
                f"{self.folder} is the checkpoint of another query:\n{other}, but this one is\n{mine}",
                hint="choose another folder, or start the query that it belongs to",
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
        if about.get("version") != VERSION:
            raise CheckpointError(
                f"{path} has format {about.get('version')}, but this version of Thalweg reads format {VERSION}",
                hint="go on with the version that wrote it, or start the query anew",
            )
        return about
