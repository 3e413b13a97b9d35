"""Which shard holds which group of keys, and since when.

    layouts.json   the number of groups, and the numbers of shards that the query has run in, each from a batch on

A key always belongs to the same group, and every group has a state of its own; a shard holds the groups g with
g % shards == shard. So a query that was stopped can go on in another number of shards: each takes over whole groups.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.checksums import FROM_A_BACKUP, WRONG_SHAPE, damaged, open_json, sealed_json
from thalweg.runtime.distributed.checkpoint.files import read_bytes, replace_file
from thalweg.runtime.distributed.checkpoint.store import KEPT_BATCHES

LAYOUTS = "layouts.json"
GROUPS_PER_SHARD = 4  # the default: a query can grow to four times its shards

_VERSION = 2  # of the file; before that it had neither a version nor a checksum
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
        tree = {"version": _VERSION, "groups": self.groups, "layouts": history}
        replace_file(_path(checkpoint), sealed_json(tree, indent=2))

    @staticmethod
    def read(checkpoint: Path) -> Layouts:
        """The layouts of a checkpoint."""
        path = _path(checkpoint)
        try:
            tree = open_json(path, read_bytes(path), _VERSION)
        except FileNotFoundError:
            raise CheckpointError(
                f"{path} is missing; it says which shard holds which groups", hint=FROM_A_BACKUP
            ) from None
        if tree.get("version", _VERSION) != _VERSION:
            raise CheckpointError(
                f"{path} has format {tree['version']}, but this version of Thalweg reads format {_VERSION}",
                hint="go on with the version that wrote it, or start the query anew",
            )
        try:
            return _checked(tree)
        except WRONG_SHAPE as error:
            raise damaged(path, error if isinstance(error, ValueError) else repr(error)) from error


def _checked(tree: dict[str, Any]) -> Layouts:
    """Layouts from JSON; an error of `WRONG_SHAPE` if they are none."""
    groups, history = tree["groups"], tuple(Layout(one["since"], one["shards"]) for one in tree["layouts"])
    numbers = [groups, *(number for layout in history for number in (layout.since, layout.shards))]
    if not all(type(number) is int for number in numbers):
        raise ValueError("groups, batches and shards must be whole numbers")
    since = [layout.since for layout in history]
    if not history or since[0] != 0 or since != sorted(set(since)):
        raise ValueError("it must list layouts in the order of their first batches, from batch 0 on")
    if not all(1 <= layout.shards <= groups for layout in history):
        raise ValueError(f"{groups} groups must have at least one shard, and at most as many shards as groups")
    return Layouts(groups, history)


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


def shard_folders(checkpoint: Path) -> list[Path]:
    """The folders of all shards of all stages, in all layouts that are still there."""
    return sorted((checkpoint / _STATE).glob(f"{_STAGE}*/from-*-of-*/shard-*"))


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
    return checkpoint / LAYOUTS
