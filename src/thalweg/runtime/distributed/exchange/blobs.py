"""Large blobs on their way between tasks: files in the checkpoint's folder, for a micro-batch or two.

Through the JVM's shuffle a blob is copied, compressed and copied again, several times what it takes to write it to a
file and map that file where it is read; so only where it lies travels with the parcel. A task writes files with
names of their own, before its parcels are seen by anybody: a task that is run again writes others, and the parcels that
count name theirs. Nothing is brought to disk for good: after a crash the batch is run again, and so are its tasks.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.files import not_written

LARGE = 1 << 16  # bytes
_KEPT = 2  # batches whose files are kept: a task of the batch before may still be at work


class Lying(NamedTuple):
    """Where a blob lies."""

    file: str
    first: int
    size: int


class BlobFiles:
    """The files of one query's micro-batches."""

    def __init__(self, checkpoint: str | Path) -> None:
        self._folder = Path(checkpoint) / "exchange"
        self._mapped: dict[str, pa.Buffer] = {}

    def put(self, batch: int, blobs: Sequence[bytes | pa.Buffer]) -> list[Lying]:
        """Write blobs to a file."""
        path = self._folder / str(batch) / uuid4().hex
        lying: list[Lying] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for blob in blobs:
                    file.write(b"\0" * (-file.tell() % 64))  # so that arrays are aligned where they lie
                    lying.append(Lying(f"{batch}/{path.name}", file.tell(), len(blob)))
                    file.write(blob)
        except OSError as error:
            raise not_written(path, error) from error
        return lying

    def get(self, lying: Lying) -> pa.Buffer:
        """A blob, where it lies."""
        if lying.file not in self._mapped:
            path = self._folder / lying.file
            try:
                with pa.memory_map(str(path)) as source:
                    self._mapped[lying.file] = source.read_buffer()
            except FileNotFoundError:
                raise CheckpointError(
                    f"{path} is missing, though a task of this micro-batch has written it",
                    hint="the checkpoint must be in a folder that all of Spark's workers see; start the query again",
                ) from None
        return self._mapped[lying.file].slice(lying.first, lying.size)

    def forget(self, batch: int) -> None:
        """Remove the files of batches that were done long before this one."""
        if not self._folder.is_dir():
            return
        for folder in self._folder.iterdir():
            if folder.name.isdecimal() and int(folder.name) <= batch - _KEPT:
                shutil.rmtree(folder, ignore_errors=True)
