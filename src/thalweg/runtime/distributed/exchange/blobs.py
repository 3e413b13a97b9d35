"""Large blobs on their way between tasks: files in the checkpoint's folder, for a micro-batch or two.

The JVM's shuffle copies a blob, compresses it and copies it again. That costs several times as much as to write it to a
file and to map the file where it is read. So a message carries only a `BlobRef`. Each attempt of a task writes files
with unique names before its messages are seen, and the messages refer to the files of their own attempt. Files are not
synced: after a crash the batch is run again, and so are its tasks.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.checksums import Seal
from thalweg.runtime.distributed.checkpoint.files import map_file, not_written
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint

FILE_FROM_BYTES = 1 << 16  # blobs of this size or more travel as files
_KEPT_BATCHES = 2  # a late task of the batch before may still read its files


class BlobRef(NamedTuple):
    """Where a blob is, and its checksum."""

    file: str
    offset: int
    size: int
    checksum: str


class BlobFiles:
    """The files of one query's micro-batches."""

    def __init__(self, checkpoint: str | Path) -> None:
        self._folder = Checkpoint(Path(checkpoint)).exchange
        self._mapped: dict[str, pa.Buffer] = {}

    def write(self, batch: int, blobs: Sequence[bytes | pa.Buffer]) -> list[BlobRef]:
        """Write blobs to one new file."""
        path = self._folder / str(batch) / uuid4().hex
        refs: list[BlobRef] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for blob in blobs:
                    file.write(b"\0" * (-file.tell() % 64))  # so that arrays are aligned when they are mapped
                    refs.append(BlobRef(f"{batch}/{path.name}", file.tell(), *Seal.of(blob)))
                    file.write(blob)
        except OSError as error:
            raise not_written(path, error) from error
        return refs

    def read(self, ref: BlobRef) -> pa.Buffer:
        """A blob, memory-mapped and checked."""
        path = self._folder / ref.file
        if ref.file not in self._mapped:
            if not path.exists():
                raise CheckpointError(
                    f"{path} is missing, though a task of this micro-batch has written it",
                    hint="the checkpoint must be in a folder that all of Spark's workers see; start the query again",
                )
            self._mapped[ref.file] = map_file(path)
        content = self._mapped[ref.file]
        seal = Seal(ref.size, ref.checksum)
        seal.check_size(path, min(ref.size, len(content) - ref.offset))
        blob = content.slice(ref.offset, ref.size)
        seal.check(path, blob)
        return blob

    def remove_older(self, batch: int) -> None:
        """Remove the files of batches before the last one."""
        if not self._folder.is_dir():
            return
        for folder in self._folder.iterdir():
            if folder.name.isdecimal() and int(folder.name) <= batch - _KEPT_BATCHES:
                shutil.rmtree(folder, ignore_errors=True)
