"""Atomic writes of files, which a crash cannot leave half done, and files of arrays."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane

_SCHEMA = pa.schema([("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.large_binary())])
_ALIGNMENT = 8


def replace_file(path: Path, content: bytes | pa.Buffer) -> None:
    """Write a file atomically: under a temporary name, then synced, renamed, and the folder synced.

    If that fails, a CheckpointError gives the reason, and the old file is unchanged.
    """
    other = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    write_file(other, content)
    try:
        other.replace(path)
        sync_file(path.parent)
    except OSError as error:
        _discard(other)
        raise not_written(path, error) from error


def write_file(path: Path, content: bytes | pa.Buffer) -> None:
    """Write and sync a new file, but not its directory entry; the caller syncs the folder."""
    try:
        _make_folder(path.parent)
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        _discard(path)
        raise not_written(path, error) from error


def sync_file(path: Path) -> None:
    """Sync a file, or the directory entries of a folder; a new file survives a crash only if both are synced."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _discard(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents, and sync the directory entry of each."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_file(folder.parent)


def not_written(path: Path, error: OSError) -> CheckpointError:
    """The CheckpointError for a file that could not be written."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = "make room" if full else f"make {path.parent} a folder that all of Spark's workers can write to"
    return CheckpointError(
        f"{path} cannot be written: {error.strerror or error}",
        hint=f"{hint}, then start the query again: it goes on after the last batch that was done",
    )


def map_file(path: Path) -> pa.Buffer:
    """A file of the checkpoint, memory-mapped: all processes of a machine share it."""
    try:
        with pa.memory_map(str(path)) as source:
            return source.read_buffer()
    except FileNotFoundError:
        raise CheckpointError(
            f"{path} is missing; the query was started with it",
            hint="the checkpoint's folder must be reachable by all of Spark's workers",
        ) from None


def write_arrays(path: Path, arrays: Sequence[Lane]) -> None:
    """Write arrays to an Arrow file, one row each, aligned so that a reader needs no copy; see `write_file`."""
    data = [_padded(array) for array in arrays]
    dtypes = [array.dtype.str for array in arrays]
    table = pa.table([dtypes, [array.shape for array in arrays], pa.array(data, pa.large_binary())], schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_table(table)
    write_file(path, sink.getvalue())


class ArrayFile:
    """The arrays of a file by their places, memory-mapped and read-only."""

    def __init__(self, path: Path) -> None:
        try:
            with pa.memory_map(str(path)) as source:
                table = pa.ipc.open_file(source).read_all()
        except FileNotFoundError:
            raise CheckpointError(
                f"{path} is missing, though a manifest of the checkpoint names it",
                hint="restore it from a backup, or start the query anew with another checkpoint",
            ) from None
        except pa.ArrowInvalid as error:
            raise CheckpointError(f"{path} cannot be read: {error}", hint="restore the file from a backup") from error
        self._dtypes, self._shapes, self._data = (table.column(name) for name in _SCHEMA.names)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, place: int) -> Lane:
        shape = self._shapes[place].as_py()
        dtype = np.dtype(self._dtypes[place].as_py())
        return np.frombuffer(self._data[place].as_buffer(), dtype=dtype, count=prod(shape)).reshape(shape)


def _padded(array: Lane) -> bytes:
    data = np.ascontiguousarray(array).tobytes()
    return data + b"\0" * (-len(data) % _ALIGNMENT)
