"""Where a shard's state lies between batches: immutable run files, and a manifest for each batch.

    runs-<batch>-<attempt>.arrow   the arrays that the batch made, memory-mapped when read
    manifest-<batch>.json          the state after the batch: values, and where each array is

A manifest has two lines: what there is to know about the state, and the state itself, which few readers need. It is
written to another name, brought to disk and renamed, so it is there as a whole or not at all. Batch b reads manifest
b-1 and writes b; if it is run again, or twice at once, each attempt writes runs of its own and the last manifest
counts. An array that the batch before has written is not written again: it is known by identity, for snapshots share
what has not changed. So a manifest names its own runs and some of those that the manifest before names, and what the
last few manifests do not name, no later one will. A file of which little is still needed is given up: that is written
once more, with what is new.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import ref

from thalweg.core.errors import CheckpointError
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.files import ArrayFile, replace_file, write_arrays
from thalweg.runtime.distributed.checkpoint.saving import Known, Saving, still_needed

VERSION = 3
KEPT_BATCHES = 3  # so many states can be gone back to: the last, and those that a failed batch may need

_OURS = re.compile(r"\.?(?:manifest|runs)-(\d+)[-.]")


class Weight(NamedTuple):
    """Which of two states after the same batch counts: that of the later start, then that made of more parcels."""

    start: str
    parcels: int


_NOTHING = Weight("", 0)


class ShardStore:
    """The states of one shard of one stage after its last batches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: Known = {}
        self._sizes: dict[str, int] = {}  # of files, in bytes
        self._last: tuple[int, str] | None = None  # the batch, and the attempt at it, whose state is in memory

    def batches(self) -> list[int]:
        """The batches after which the state is known, in order."""
        return sorted(map(_number, self._folder.glob("manifest-*.json")))

    def has(self, batch: int) -> bool:
        """Whether the state after a batch is there."""
        return self._manifest(batch).exists()

    def is_at(self, batch: int) -> bool:
        """Whether the state after a batch is still the one that this store has last saved or loaded.

        It is not if another process has done the batch since, or if the folder was deleted and made anew.
        """
        if self._last is None or self._last[0] != batch:
            return False
        head = _head(self._last[1])
        try:
            with self._manifest(batch).open("rb") as file:
                return file.read(len(head)) == head
        except FileNotFoundError:
            return False

    def load(self, batch: int) -> Tree:
        """The state after a batch."""
        manifest = read_manifest(self._manifest(batch), with_state=True)
        self._known = {}
        self._sizes = {name: _size(self._folder / name) for name in manifest["files"]}
        files = {name: ArrayFile(self._folder / name) for name in manifest["files"]}
        self._last = (batch, manifest["attempt"])
        return self._decoded(manifest["state"], files)

    def is_outdone(self, batch: int, weight: Weight) -> bool:
        """Whether the state after a batch is there already, and counts for as much as one of this weight."""
        try:
            return Weight(*read_manifest(self._manifest(batch))["weight"]) >= weight
        except CheckpointError:
            return False

    def save(self, batch: int, state: Tree, about: dict[str, Any], weight: Weight = _NOTHING) -> None:
        """The state after a batch; `about` is whatever people may want to know of it."""
        attempt = uuid4().hex
        saving = Saving(f"runs-{batch}-{attempt[:8]}.arrow", still_needed(state, self._known, self._sizes))
        encoded = saving.encoded(state)
        if saving.new:
            write_arrays(self._folder / saving.file, saving.new)
            self._sizes[saving.file] = _size(self._folder / saving.file)
        rest = {"batch": batch, "files": sorted(saving.files), "weight": list(weight), "about": about}
        lines = json.dumps(rest)[1:], json.dumps(encoded)
        replace_file(self._manifest(batch), _head(attempt) + b", " + "\n".join(lines).encode())
        self._known = saving.known
        self._sizes = {name: self._sizes[name] for name in saving.files}
        self._last = (batch, attempt)
        self._forget(batch)

    def _manifest(self, batch: int) -> Path:
        return self._folder / f"manifest-{batch}.json"

    def _decoded(self, tree: Any, files: dict[str, ArrayFile]) -> Tree:
        match tree:
            case {"@": [name, place]}:
                array = files[name][place]
                self._known[id(array)] = (ref(array), (name, place))
                return array
            case {"()": items}:
                return tuple(self._decoded(item, files) for item in items)
            case dict():
                return {key: self._decoded(item, files) for key, item in tree.items()}
            case list():
                return [self._decoded(item, files) for item in tree]
        return tree

    def _forget(self, batch: int) -> None:
        """Remove manifests that nobody will go back to, the runs that only they name, and what attempts left behind.

        An attempt that was overtaken by others may find the manifests it looks for gone: then it removes nothing.
        """
        oldest = batch - KEPT_BATCHES + 1
        named: set[str] = set()
        try:
            for kept in (b for b in self.batches() if b >= oldest):
                named.update(read_manifest(self._manifest(kept))["files"])
        except CheckpointError:
            return
        for path in self._folder.iterdir():
            if _number(path) < oldest and path.name not in named:
                with suppress(OSError):  # the next batch will try again
                    path.unlink(missing_ok=True)


def _head(attempt: str) -> bytes:
    """How a manifest begins."""
    return f'{{"version": {VERSION}, "attempt": "{attempt}"'.encode()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _number(path: Path) -> int:
    """The batch that a manifest or a run file belongs to, also while it has its other name."""
    found = _OURS.match(path.name)
    return int(found[1]) if found else sys.maxsize  # not ours: newer than anything


def read_manifest(path: Path, with_state: bool = False) -> dict[str, Any]:
    """A manifest, perhaps with the state in it; a CheckpointError says what is wrong with it."""
    try:
        with path.open("rb") as file:
            manifest: dict[str, Any] = json.loads(file.readline())
            if manifest.get("version") != VERSION:
                raise CheckpointError(
                    f"{path} has format {manifest.get('version')}, but this version of Thalweg reads format {VERSION}",
                    hint="go on with the version that wrote it, or start the query anew",
                )
            if with_state:
                manifest["state"] = json.loads(file.readline())
    except FileNotFoundError:
        raise CheckpointError(
            f"the state after batch {_number(path)} is not there: {path} is missing",
            hint="a file of the checkpoint was deleted; restore it, or start the query anew with another checkpoint",
        ) from None
    except ValueError as error:
        raise CheckpointError(f"{path} cannot be read: {error}", hint="restore the file from a backup") from error
    return manifest
