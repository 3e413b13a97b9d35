"""Where a shard's state lies between batches: immutable run files, and a manifest for each batch.

    runs-<batch>-<attempt>.arrow   the arrays that the batch made, memory-mapped when read
    manifest-<batch>.json          the state after the batch: values, and where each array is

A manifest is written to another name, brought to disk and renamed, so it is there as a whole or not at all. Batch b
reads manifest b-1 and writes b; if it is run again it writes the same. An array that an earlier batch has written is
not written again: immutable runs are known by identity, arrays that are changed in place by their contents.
"""

from __future__ import annotations

import json
import os
from hashlib import sha1
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import ref

import numpy as np

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane
from thalweg.runtime.shards.files import read_arrays, replace_file, write_arrays
from thalweg.state.snapshot import Tree

VERSION = 1
_KEPT_BATCHES = 3  # so many states can be gone back to: the last, and those that a failed batch may need

Address = tuple[str, int]  # a file, and the place of an array in it


class ShardStore:
    """The states of one shard of one stage after its last batches."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_identity: dict[int, tuple[ref[Lane], Address]] = {}
        self._by_content: dict[bytes, Address] = {}

    def batches(self) -> list[int]:
        """The batches after which the state is known, in order."""
        return sorted(int(path.stem.split("-")[1]) for path in self._folder.glob("manifest-*.json"))

    def load(self, batch: int) -> Tree:
        """The state after a batch."""
        manifest = read_manifest(self._folder / f"manifest-{batch}.json")
        self._by_identity.clear()
        self._by_content.clear()
        files = {name: read_arrays(self._folder / name) for name in manifest["files"]}
        return self._decoded(manifest["state"], files)

    def save(self, batch: int, state: Tree, about: dict[str, Any]) -> None:
        """The state after a batch; `about` is whatever people may want to know of it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"runs-{batch}-{uuid4().hex[:8]}.arrow"
        new: list[Lane] = []
        contents: dict[bytes, Address] = {}
        files: set[str] = set()
        encoded = self._encoded(state, name, new, contents, files)
        if new:
            write_arrays(self._folder / name, new)
        self._by_content = contents
        self._by_identity = {i: entry for i, entry in self._by_identity.items() if entry[0]() is not None}
        manifest = {"version": VERSION, "batch": batch, "files": sorted(files), "about": about, "state": encoded}
        replace_file(self._folder / f"manifest-{batch}.json", json.dumps(manifest).encode())
        self._forget(batch)

    def _encoded(self, tree: Tree, file: str, new: list[Lane], contents: dict[bytes, Address], files: set[str]) -> Any:
        match tree:
            case np.ndarray():
                address = self._address(tree, file, new, contents)
                files.add(address[0])
                return {"@": list(address)}
            case tuple():
                return {"()": [self._encoded(item, file, new, contents, files) for item in tree]}
            case list():
                return [self._encoded(item, file, new, contents, files) for item in tree]
            case dict():
                return {key: self._encoded(item, file, new, contents, files) for key, item in tree.items()}
        return tree

    def _address(self, array: Lane, file: str, new: list[Lane], contents: dict[bytes, Address]) -> Address:
        known = self._by_identity.get(id(array))
        if known is not None and known[0]() is array:
            return known[1]
        digest = sha1(array.tobytes(), usedforsecurity=False).digest() + f"{array.dtype.str}{array.shape}".encode()
        address = contents.get(digest) or self._by_content.get(digest)
        if address is None:
            address = (file, len(new))
            new.append(array)
        contents[digest] = address
        self._by_identity[id(array)] = (ref(array), address)
        return address

    def _decoded(self, tree: Any, files: dict[str, list[Lane]]) -> Tree:
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
        """Remove manifests that nobody will go back to, and the runs that only they name."""
        kept = [b for b in self.batches() if b > batch - _KEPT_BATCHES]
        named = {name for b in kept for name in read_manifest(self._folder / f"manifest-{b}.json")["files"]}
        for path in [*self._folder.glob("manifest-*.json"), *self._folder.glob("runs-*.arrow")]:
            old = int(path.stem.split("-")[1]) <= batch - _KEPT_BATCHES
            if old and path.name not in named:
                path.unlink(missing_ok=True)


def read_manifest(path: Path) -> dict[str, Any]:
    """A manifest; a CheckpointError says what is wrong with it."""
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise CheckpointError(
            f"the state after batch {path.stem.split('-')[1]} is not there: {path} is missing",
            hint="a file of the checkpoint was deleted; restore it, or start the query anew with another checkpoint",
        ) from None
    except ValueError as error:
        raise CheckpointError(f"{path} cannot be read: {error}", hint="restore the file from a backup") from error
    if manifest.get("version") != VERSION:
        raise CheckpointError(
            f"{path} has format {manifest.get('version')}, but this version of Thalweg reads format {VERSION}",
            hint="go on with the version that wrote it, or start the query anew",
        )
    return manifest


def shard_folder(checkpoint: str | os.PathLike[str], stage: int, shard: int) -> Path:
    """Where a shard's state lies."""
    return Path(checkpoint) / "state" / f"stage-{stage}" / f"shard-{shard}"
