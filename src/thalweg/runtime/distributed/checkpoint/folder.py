"""A checkpoint: the folder of a query or a flow, and the files in it.

query.json   the plan and the strategy, and the choices that were pinned when the query first started
layouts.json the number of groups, and which batches were run in how many shards
lease.json   the driver that runs the query
spark/       Spark's own: offsets and commits
state/       a folder per stage, layout and shard: run files and manifests
exchange/    large blobs on their way between the tasks of the last batches
tables/      copies of static tables, taken when the query first started
control/     commands to the running query
commands/    of a flow: queries to add and drop; begin.json: those before the first start; flow.json: streams and tables
heartbeat    an empty file: the query has a heartbeat
side_outputs/  late and bad rows
answers/     the changes of the answer, if no other sink was given
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thalweg.core.errors import CheckpointError, PlanError
from thalweg.core.path_names import place_of
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.control import CONTROL, write_command
from thalweg.runtime.distributed.checkpoint.layouts import (
    Layouts,
    remove_dropped,
    shard_folder,
    stage_folders,
    usual_groups,
)
from thalweg.runtime.distributed.checkpoint.manifest import clock_after, manifest_path, read_manifest
from thalweg.runtime.distributed.checkpoint.query_file import QUERY_FILE, PinnedChoice, QueryFile
from thalweg.runtime.distributed.checkpoint.report import ShardReport

COMMANDS = "commands"  # the folder of a flow's commands


@dataclass(frozen=True)
class Asked:
    """The numbers of shards and groups that a user has asked for.

    Without a number of shards a query goes on in as many as before, or first starts with one for each of Spark's
    `cores`. The number of groups is fixed at the first start.
    """

    cores: int
    shards: int | None = None
    groups: int | None = None

    def first(self) -> Layouts:
        """The layouts of a query that has not run before."""
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
    """The folder of a query or a flow. All of Spark's workers must reach it by the same path."""

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

    def offsets(self, batch: int) -> Path:
        """The file in which Spark has written what a batch reads, and when it was planned."""
        return self.spark / "offsets" / str(batch)

    @property
    def commits(self) -> Path:
        """Spark's own: an entry for each batch that is done."""
        return self.spark / "commits"

    @property
    def answers(self) -> Path:
        """The changes of the answer, if no other sink was given."""
        return self.folder / "answers"

    @property
    def control(self) -> Path:
        """Commands to let time pass."""
        return self.folder / CONTROL

    @property
    def commands(self) -> Path:
        """Commands to a flow."""
        return self.folder / COMMANDS

    @property
    def heartbeat(self) -> Path:
        """A file that exists if the query has a heartbeat."""
        return self.folder / "heartbeat"

    @property
    def exchange(self) -> Path:
        """Large blobs on their way between tasks."""
        return self.folder / "exchange"

    @property
    def side_outputs(self) -> Path:
        """Late and bad rows."""
        return self.folder / "side_outputs"

    @property
    def tables(self) -> Path:
        """Copies of static tables, taken at the first start."""
        return self.folder / "tables"

    def table(self, name: str) -> Path:
        """The copy of a static table."""
        return place_of(self.tables, name, ".arrow")

    def side_output(self, kind: str, source: str) -> Path:
        """The folder with the late rows, or the bad rows, of a source."""
        return place_of(self.side_outputs / kind, source)

    @property
    def stages(self) -> list[int]:
        """The numbers of the stages that have saved states, in order."""
        return sorted(stage_folders(self.folder))

    @property
    def committed(self) -> int:
        """The last batch that Spark has committed; -1 if there is none."""
        return max((int(p.name) for p in self.commits.glob("*") if p.name.isdecimal()), default=-1)

    @property
    def layouts(self) -> Layouts:
        """The numbers of shards that the query has run in so far."""
        return Layouts.read(self.folder)

    def shards(self, batch: int, stage: int) -> list[Path]:
        """The folders of a stage's shards that hold the state after a batch."""
        layout = self.layouts.at(batch)
        return [shard_folder(self.folder, stage, layout, shard) for shard in range(layout.shards)]

    def has_done(self, batch: int, stage: int) -> bool:
        """Whether all shards of a stage have saved their states after a batch."""
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
                if self.committed == done:  # else the query has gone on and removed these manifests: read newer ones
                    raise
        return []

    def clock_after(self, batch: int) -> Instant:
        """The query's clock after a batch: the answer is exact up to it."""
        return clock_after(self.shards(batch, stage=0)[0], batch)

    def command(self, clock: Instant | None) -> None:
        """Send the running query a command: let time pass up to `clock`, or, with None, expect no more rows."""
        write_command(self.control, clock)

    @property
    def is_claimed(self) -> bool:
        """Whether the folder belongs to a query."""
        return QueryFile.is_in(self.folder)

    @property
    def query_file(self) -> QueryFile:
        """The query that the folder belongs to, and the choices that were pinned when it first started."""
        return QueryFile.read(self.folder)

    def claim(self, identity: Identity, asked: Asked, choice: PinnedChoice | None = None) -> Layouts:
        """Record the query in a new folder, or check that the folder belongs to it.

        Returns the layouts, with the requested shards from the next batch on. The choices that were pinned at the
        first start are not changed.
        """
        if self.is_claimed:
            self.query_file.check(identity, self.folder)
            return self._reshard(asked)
        if self.spark.exists():
            raise CheckpointError(
                f"{self.folder / QUERY_FILE} is missing, though {self.folder} holds a checkpoint",
                hint="restore it, or choose another folder",
            )
        layouts = asked.first()
        layouts.write(self.folder)
        QueryFile(identity, choice or PinnedChoice()).write(self.folder)
        return layouts

    def planned(self, asked: Asked) -> Layouts:
        """The layouts with the requested number of shards from the first uncommitted batch on; nothing is written."""
        known = self.layouts
        if asked.groups not in (None, known.groups):
            raise CheckpointError(
                f"{self.folder} spreads keys over {known.groups} groups, but groups={asked.groups} was asked for",
                hint="leave out groups: their number is fixed when a query is first started",
            )
        return known.changed(self.committed + 1, asked.shards or known.last.shards)

    def _reshard(self, asked: Asked) -> Layouts:
        """Use the requested number of shards from the first uncommitted batch on.

        Spark runs that batch again even if an attempt at it was cut short. State that such an attempt saved in another
        layout is removed.
        """
        known, layouts = self.layouts, self.planned(asked)
        if layouts != known:
            layouts.write(self.folder)
            remove_dropped(self.folder, known.history, layouts.history)
        return layouts
