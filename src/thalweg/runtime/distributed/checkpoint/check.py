"""Reads every file of a checkpoint, and says which of them are damaged or missing. It changes nothing.

Not read are Spark's own files, which Spark checks itself, and messages between tasks, which no start needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.checksums import damaged
from thalweg.runtime.distributed.checkpoint.control import check_commands
from thalweg.runtime.distributed.checkpoint.files import ArrayFile, map_stream, read_stream
from thalweg.runtime.distributed.checkpoint.flow_commands import BEGIN, Commands
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDesk
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import LAYOUTS, shard_folders
from thalweg.runtime.distributed.checkpoint.lease import LEASE, read_lease
from thalweg.runtime.distributed.checkpoint.manifest import manifest_batches, manifest_path, read_manifest_and_state
from thalweg.runtime.distributed.checkpoint.query_file import QUERY_FILE, QueryFile

_ROWS = 1 << 16  # of answers that are read at a time


@dataclass(frozen=True)
class CheckedFile:
    """A file, its size, and what is wrong with it; None if it is whole."""

    path: Path
    size: int
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {"path": str(self.path), "bytes": self.size, "problem": self.problem}


def check_checkpoint(checkpoint: Checkpoint) -> list[CheckedFile]:
    """All files that a start, or a question about the past, would read."""
    found = [_checked(path, read) for path, read in _files(checkpoint)]
    return [file for file in found if file.problem is not None or not file.path.is_dir()]


def _checked(path: Path, read: Callable[[], object]) -> CheckedFile:
    size = path.stat().st_size if path.is_file() else 0
    try:
        read()
    except CheckpointError as error:
        return CheckedFile(path, size, error.message)
    return CheckedFile(path, size)


def _files(checkpoint: Checkpoint) -> Iterator[tuple[Path, Callable[[], object]]]:
    """Every file with a function that reads it, and raises a CheckpointError if it is not whole."""
    folder = checkpoint.folder
    yield folder / QUERY_FILE, partial(QueryFile.read, folder)
    yield folder / LAYOUTS, lambda: checkpoint.layouts
    if (folder / LEASE).exists():
        yield folder / LEASE, partial(read_lease, folder)
    if FlowDesk.is_at(folder):
        commands = Commands(folder)
        yield FlowDesk.file(folder), partial(FlowDesk.at, folder)
        if checkpoint.spark.exists():
            yield folder / BEGIN, partial(commands.begin, has_begun=True)
        for path in commands.files():
            yield path, partial(commands.read_file, path)
        yield commands.folder, commands.all  # whether any file is missing
    for path in sorted(checkpoint.control.glob("*.json")):
        yield path, partial(check_commands, path.parent, path.name)
    for path in sorted(checkpoint.tables.glob("*.arrow")):
        yield path, partial(map_stream, path)
    for path in sorted(checkpoint.side_outputs.glob("*/*/*.arrow")):
        yield path, partial(read_stream, path)
    yield from _states(checkpoint)
    for path in sorted(checkpoint.answers.glob("batch=*/*.parquet")):
        yield path, partial(_read_parquet, path)


def _states(checkpoint: Checkpoint) -> Iterator[tuple[Path, Callable[[], object]]]:
    """All manifests, the run files that they name, and the manifests that must be there."""
    done, must = checkpoint.committed, set[Path]()
    if done >= 0:
        try:
            must = {folder for stage in checkpoint.stages for folder in checkpoint.shards(done, stage)}
        except CheckpointError:  # layouts.json is damaged, and is listed as such
            must = set()
    for folder in sorted({*shard_folders(checkpoint.folder), *must}):
        named: dict[str, Callable[[], object]] = {}
        batches = {*manifest_batches(folder), *([done] if folder in must else [])}
        for batch in sorted(batches):
            yield manifest_path(folder, batch), partial(read_manifest_and_state, folder, batch)
            try:
                files = read_manifest_and_state(folder, batch)[0].files
            except CheckpointError:
                continue
            named |= {name: partial(ArrayFile, folder / name, seal) for name, seal in files.items()}
        yield from ((folder / name, read) for name, read in sorted(named.items()))


def _read_parquet(path: Path) -> None:
    try:
        with pq.ParquetFile(path) as file:
            for _ in file.iter_batches(_ROWS):
                pass
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error
