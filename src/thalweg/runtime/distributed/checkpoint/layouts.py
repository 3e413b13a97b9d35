"""Which shard holds which group of keys, and since when.

    layouts.json   the number of groups, and the numbers of shards that the query has run in, each from a batch on

A key always belongs to the same group, and every group has a state of its own; a shard holds the groups g with
g % shards == shard. So a query that was stopped can go on in another number of shards: each takes over whole groups.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.store import KEPT_BATCHES

GROUPS_PER_SHARD = 4  # the default: a query can grow to four times its shards

_STATE, _STAGE = "state", "stage-"  # the folder of all states, and how the folder of a stage begins
_FOLDER = re.compile(r"from-(\d+)-of-\d+")


@dataclass(frozen=True)
class Layout:
    """The number of shards from batch `since` on."""

    since: int
    shards: int

    def groups_of(self, shard: int, groups: int) -> range:
        """The groups that a shard holds."""
        return range(shard, groups, self.shards)

    @property
    def folder(self) -> str:
        """The name of the folder with the shards of a stage."""
        return f"from-{self.since}-of-{self.shards}"


@dataclass(frozen=True)
class Layouts:
    """A query's groups, and the shards that have held them so far, in order of batches."""

    groups: int
    history: tuple[Layout, ...]

    @property
    def last(self) -> Layout:
        """The layout of the batches to come."""
        return self.history[-1]

    def at(self, batch: int) -> Layout:
        """The layout in which a batch is run, and in which its state is saved."""
        return next(layout for layout in reversed(self.history) if layout.since <= batch)

    def changed(self, batch: int, shards: int) -> Layouts:
        """The layouts with `shards` shards from `batch` on.

        `batch` must be uncommitted; a layout that was planned for it is replaced.
        """
        if shards > self.groups:
            raise CheckpointError(
                f"the keys of this query are spread over {self.groups} groups, so it cannot run in {shards} shards",
                hint=f"go on with at most {self.groups} shards, or start the query anew, with another checkpoint and "
                f"groups={usual_groups(shards)}",
            )
        kept = tuple(layout for layout in self.history if layout.since < batch)
        if not kept or kept[-1].shards != shards:
            kept = (*kept, Layout(batch, shards))
        return replace(self, history=kept)

    def write(self, checkpoint: Path) -> None:
        """Write layouts.json atomically."""
        history = [{"since": layout.since, "shards": layout.shards} for layout in self.history]
        tree = {"groups": self.groups, "layouts": history}
        replace_file(_path(checkpoint), json.dumps(tree, indent=2).encode())

    @staticmethod
    def read(checkpoint: Path) -> Layouts:
        """The layouts of a checkpoint."""
        path = _path(checkpoint)
        try:
            tree = json.loads(path.read_bytes())
            return Layouts(int(tree["groups"]), tuple(Layout(**layout) for layout in tree["layouts"]))
        except FileNotFoundError:
            raise CheckpointError(
                f"{path} is missing; it says which shard holds which groups", hint="restore the file from a backup"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} cannot be read: {error}", hint="restore the file from a backup") from error


def usual_groups(shards: int) -> int:
    """The default number of groups of a query that first starts with this number of shards."""
    return GROUPS_PER_SHARD * shards


def stage_folder(checkpoint: Path, stage: int) -> Path:
    """The folder of a stage's layouts."""
    return checkpoint / _STATE / f"{_STAGE}{stage}"


def stage_folders(checkpoint: Path) -> dict[int, Path]:
    """By number, the folders of the stages that have saved states."""
    return {int(path.name.removeprefix(_STAGE)): path for path in (checkpoint / _STATE).glob(f"{_STAGE}*")}


def shard_folder(checkpoint: Path, stage: int, layout: Layout, shard: int) -> Path:
    """The folder of a shard's state."""
    return stage_folder(checkpoint, stage) / layout.folder / f"shard-{shard}"


def remove_older(stage: Path, layout: Layout, batch: int) -> None:
    """Remove a stage's states in older layouts, once no batch that may be run again needs them.

    A late task of an older layout that calls this removes no newer state: newer layouts begin later than its own.
    """
    if not layout.since or batch - layout.since < KEPT_BATCHES:
        return
    for folder in stage.iterdir():
        found = _FOLDER.fullmatch(folder.name)
        if found and int(found[1]) < layout.since:
            shutil.rmtree(folder, ignore_errors=True)  # the next batch will try again


def remove_dropped(checkpoint: Path, before: Sequence[Layout], after: Sequence[Layout]) -> None:
    """Remove states of layouts that were planned and then replaced; an attempt at a batch may have saved some."""
    for layout in set(before) - set(after):
        for stage in stage_folders(checkpoint).values():
            shutil.rmtree(stage / layout.folder, ignore_errors=True)


def _path(checkpoint: Path) -> Path:
    return checkpoint / "layouts.json"
