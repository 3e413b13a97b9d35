"""A shard's state between batches: immutable run files, and a manifest for each batch.

    runs-<batch>-<attempt>.arrow   the arrays that the batch made, memory-mapped when read
    manifest-<batch>.json          the state after the batch: values, the address of each array, and all checksums

Batch b reads manifest b-1 and writes manifest b. If it is run again, or twice at once, each attempt writes run files of
its own, and the last manifest counts. Snapshots share arrays that have not changed, so an array that an earlier batch
has written is recognised by identity and not written again. A manifest names its own run file and older ones that are
still needed; a run file that none of the kept manifests names is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import ref

import numpy as np

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane
from thalweg.kernel.state.snapshot import PLAIN, Tree
from thalweg.kernel.state.upgrades import upgraded
from thalweg.runtime.distributed.checkpoint.checksums import WRONG_SHAPE, Seal, damaged
from thalweg.runtime.distributed.checkpoint.files import ArrayFile, write_arrays
from thalweg.runtime.distributed.checkpoint.manifest import (
    NO_REPORT,
    NO_WEIGHT,
    Manifest,
    Weight,
    batch_of,
    is_attempt,
    manifest_batches,
    manifest_path,
    read_manifest,
    read_manifest_and_state,
)
from thalweg.runtime.distributed.checkpoint.report import ShardReport

KEPT_BATCHES = 3  # number of batches of which the state is kept: a failed batch may be run again from them

Address = tuple[str, int]  # a file, and the place of an array in it
Known = dict[int, tuple[ref[Lane], Address]]  # arrays by their identity

# Arrays are copied to the new file, and their old file is dropped, if too little of it is still needed, or if there are
# too many small files.
_KEEP_FILE_IF_USED_SHARE = 1 / 4
_GATHER_FILES_UP_TO_BYTES = 1 << 16
_GATHER_FROM_SMALL_FILES = 17


class ShardStore:
    """The states of one shard of one stage after the last few batches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: Known = {}
        self._seals: dict[str, Seal] = {}  # of the run files that the last state needs
        self._last: tuple[int, str] | None = None  # the batch, and the attempt at it, whose state is in memory

    def batches(self) -> list[int]:
        """The batches of which the state is kept, in order."""
        return manifest_batches(self._folder)

    def has(self, batch: int) -> bool:
        """Whether the state after a batch is saved."""
        return manifest_path(self._folder, batch).exists()

    def is_at(self, batch: int) -> bool:
        """Whether the newest saved state after a batch is the one that this store last saved or loaded.

        It is not if another process has run the batch since, or if the folder was deleted and created again.
        """
        return self._last is not None and self._last[0] == batch and is_attempt(self._folder, *self._last)

    def load(self, batch: int) -> Tree:
        """The state after a batch."""
        manifest, state = read_manifest_and_state(self._folder, batch)
        files = {name: ArrayFile(self._folder / name, seal) for name, seal in manifest.files.items()}
        self._known = {}
        self._seals = {name: file.seal for name, file in files.items()}
        self._last = (batch, manifest.attempt)
        try:
            return self._decoded(state, files)
        except WRONG_SHAPE as error:  # only a manifest without checksums can be so
            raise damaged(manifest_path(self._folder, batch), repr(error)) from error

    def is_outweighed(self, batch: int, weight: Weight) -> bool:
        """Whether a saved state of the batch has at least this weight."""
        try:
            return read_manifest(self._folder, batch).weight >= weight
        except CheckpointError:
            return False

    def save(
        self, batch: int, state: Tree, report: ShardReport = NO_REPORT, weight: Weight = NO_WEIGHT, fence: int = 0
    ) -> None:
        """Save the state after a batch, with the shard's report and the fence of its driver."""
        attempt = uuid4().hex
        saving = _Saving(f"runs-{batch}-{attempt[:8]}.arrow", _still_needed(state, self._known, self._seals))
        encoded = saving.encoded(state)
        seals = dict(self._seals)
        if saving.new:
            seals[saving.file] = write_arrays(self._folder / saving.file, saving.new)
        seals = {name: seals[name] for name in sorted(saving.files)}
        Manifest(batch, attempt, seals, weight, report, fence).write(self._folder, encoded)
        self._known, self._seals = saving.known, seals
        self._last = (batch, attempt)
        self._remove_older(batch)

    def _decoded(self, tree: Any, files: dict[str, ArrayFile]) -> Tree:
        match tree:
            case {"@": [name, place]}:
                array = files[name][place]
                self._known[id(array)] = (ref(array), (name, place))
                return array
            case {"()": items}:
                return tuple(self._decoded(item, files) for item in items)
            case dict():
                return upgraded({key: self._decoded(item, files) for key, item in tree.items()})
            case list():
                return [self._decoded(item, files) for item in tree]
        return tree

    def _remove_older(self, batch: int) -> None:
        """Remove manifests of older batches, and run files that no kept manifest names.

        If another process has removed a manifest meanwhile, this attempt is out of date, and removes nothing.
        """
        oldest = batch - KEPT_BATCHES + 1
        named: set[str] = set()
        try:
            for kept in (b for b in self.batches() if b >= oldest):
                named.update(read_manifest(self._folder, kept).files)
        except CheckpointError:
            return
        for path in self._folder.iterdir():
            if batch_of(path) < oldest and path.name not in named:
                with suppress(OSError):  # the next batch tries again
                    path.unlink(missing_ok=True)


class _Saving:
    """One save: the arrays that must be written, and the addresses of all."""

    def __init__(self, file: str, known: Known) -> None:
        self.file, self.new, self.files = file, list[Lane](), set[str]()
        # Only arrays of this state are remembered: the file of another may be removed before the next save.
        self.known = known

    def encoded(self, tree: Tree) -> Any:
        """The state with addresses for arrays."""
        if type(tree) in PLAIN:
            return tree
        match tree:
            case np.ndarray():
                address = self._address(tree)
                self.files.add(address[0])
                return {"@": list(address)}
            case tuple():
                return {"()": [self.encoded(item) for item in tree]}
            case list():
                return [self.encoded(item) for item in tree]
            case dict():
                return {key: self.encoded(item) for key, item in tree.items()}
        return tree

    def _address(self, array: Lane) -> Address:
        known = self.known.get(id(array))
        if known is not None:
            return known[1]
        address = (self.file, len(self.new))
        self.new.append(array)
        self.known[id(array)] = (ref(array), address)
        return address


def _still_needed(state: Tree, known: Known, seals: Mapping[str, Seal]) -> Known:
    """The arrays of a state that need not be written, because their files are kept.

    A large file of which little is needed is dropped, and all small files once there are many of them: their arrays are
    written again with the new ones. So there are few files, and together they are not much larger than the state.
    """
    there: Known = {}
    live: dict[str, int] = {}
    for array in _arrays(state):
        found = known.get(id(array))
        if found is not None and found[0]() is array and id(array) not in there:
            there[id(array)] = found
            live[found[1][0]] = live.get(found[1][0], 0) + array.nbytes
    small = {name for name in live if seals[name].size <= _GATHER_FILES_UP_TO_BYTES}
    dropped = {
        name for name, size in live.items() if name not in small and size < _KEEP_FILE_IF_USED_SHARE * seals[name].size
    }
    if len(small) >= _GATHER_FROM_SMALL_FILES:
        dropped |= small
    return {key: found for key, found in there.items() if found[1][0] not in dropped}


def _arrays(tree: Tree) -> Iterator[Lane]:
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, list | tuple | dict):
        for item in tree.values() if isinstance(tree, dict) else tree:
            if type(item) not in PLAIN:
                yield from _arrays(item)
