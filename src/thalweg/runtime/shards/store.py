"""Where a shard's state lies between batches: immutable run files, and a manifest for each batch.

    runs-<batch>-<attempt>.arrow   the arrays that the batch made, memory-mapped when read
    manifest-<batch>.json          the state after the batch: values, and where each array is

A manifest has two lines: what there is to know about the state, and the state itself, which few readers need. It is
written to another name, brought to disk and renamed, so it is there as a whole or not at all. Batch b reads manifest
b-1 and writes b; if it is run again, or twice at once, each attempt writes runs of its own and the last manifest
counts. An array that the batch before has written is not written again: immutable runs are known by identity, arrays
that are changed in place by their contents. So a manifest names its own runs and some of those that the manifest before
names, and what the last few manifests do not name, no later one will.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import ref

import numpy as np

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane
from thalweg.runtime.shards.files import ArrayFile, replace_file, write_arrays
from thalweg.state.snapshot import PLAIN, Tree

VERSION = 2
KEPT_BATCHES = 3  # so many states can be gone back to: the last, and those that a failed batch may need

_OURS = re.compile(r"\.?(?:manifest|runs)-(\d+)[-.]")

Address = tuple[str, int]  # a file, and the place of an array in it


class ShardStore:
    """The states of one shard of one stage after its last batches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_identity: dict[int, tuple[ref[Lane], Address]] = {}
        self._by_content: dict[bytes, Address] = {}
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
        self._by_identity, self._by_content = {}, {}
        files = {name: ArrayFile(self._folder / name) for name in manifest["files"]}
        self._last = (batch, manifest["attempt"])
        return self._decoded(manifest["state"], files)

    def save(self, batch: int, state: Tree, about: dict[str, Any]) -> None:
        """The state after a batch; `about` is whatever people may want to know of it."""
        attempt = uuid4().hex
        saving = _Saving(f"runs-{batch}-{attempt[:8]}.arrow", self._by_identity, self._by_content)
        encoded = saving.encoded(state)
        if saving.new:
            write_arrays(self._folder / saving.file, saving.new)
        rest = {"batch": batch, "files": sorted(saving.files), "about": about}
        lines = json.dumps(rest)[1:], json.dumps(encoded)
        replace_file(self._manifest(batch), _head(attempt) + b", " + "\n".join(lines).encode())
        self._by_identity, self._by_content = saving.by_identity, saving.by_content
        self._last = (batch, attempt)
        self._forget(batch)

    def _manifest(self, batch: int) -> Path:
        return self._folder / f"manifest-{batch}.json"

    def _decoded(self, tree: Any, files: dict[str, ArrayFile]) -> Tree:
        match tree:
            case {"@": [name, place]}:
                array = files[name][place]
                self._by_identity[id(array)] = (ref(array), (name, place))
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


class _Saving:
    """One save: which arrays are new, and where all of them lie."""

    def __init__(self, file: str, known: dict[int, tuple[ref[Lane], Address]], contents: dict[bytes, Address]) -> None:
        self.file, self.new, self.files = file, list[Lane](), set[str]()
        self._known, self._contents = known, contents
        # What is not part of this state is not known to the next save, for its file may be gone by then.
        self.by_identity: dict[int, tuple[ref[Lane], Address]] = {}
        self.by_content: dict[bytes, Address] = {}

    def encoded(self, tree: Tree) -> Any:
        """The state with addresses for arrays."""
        if type(tree) in PLAIN:
            return tree
        match tree:
            case np.ndarray():
                address = self._address(tree)
                self.files.add(address[0])
                self.by_identity[id(tree)] = (ref(tree), address)
                return {"@": list(address)}
            case tuple():
                return {"()": [self.encoded(item) for item in tree]}
            case list():
                return [self.encoded(item) for item in tree]
            case dict():
                return {key: self.encoded(item) for key, item in tree.items()}
        return tree

    def _address(self, array: Lane) -> Address:
        known = self._known.get(id(array)) or self.by_identity.get(id(array))
        if known is not None and known[0]() is array:
            return known[1]
        digest = sha1(array.tobytes(), usedforsecurity=False).digest() + f"{array.dtype.str}{array.shape}".encode()
        address = self.by_content.get(digest) or self._contents.get(digest)
        if address is None:
            address = (self.file, len(self.new))
            self.new.append(array)
        self.by_content[digest] = address
        return address


def _head(attempt: str) -> bytes:
    """How a manifest begins."""
    return f'{{"version": {VERSION}, "attempt": "{attempt}"'.encode()


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
