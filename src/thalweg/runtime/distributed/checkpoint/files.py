"""Atomic writes of files, which a crash cannot leave half done, and files of arrays."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane
from thalweg.runtime.distributed.checkpoint.checksums import Seal, damaged, open_arrow

_SCHEMA = pa.schema([("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.large_binary())])
_ALIGNMENT = 8
_FILE_FORMAT = b"ARROW1"  # begins files of late and bad rows of older versions, which have no checksum
_DTYPES = re.compile(r"[<>|=]?[biufSUmM]\d*(\[\w+\])?")  # arrays of plain values, never of objects


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


def read_bytes(path: Path) -> bytes:
    """All bytes of a file; a CheckpointError if it is there but cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise not_read(path, error) from error


def not_read(path: Path, error: OSError) -> CheckpointError:
    """The CheckpointError for a file that the system does not let us read."""
    return CheckpointError(
        f"{path} cannot be read: {error.strerror or error}",
        hint="make the checkpoint's folder readable for all of Spark's workers",
    )


def map_file(path: Path) -> pa.Buffer:
    """A file of the checkpoint, memory-mapped: all processes of a machine share it."""
    try:
        if not path.stat().st_size:
            return pa.py_buffer(b"")
        with pa.memory_map(str(path)) as source:
            return source.read_buffer()
    except FileNotFoundError:
        raise CheckpointError(
            f"{path} is missing; the query was started with it",
            hint="the checkpoint's folder must be reachable by all of Spark's workers; if it is, restore the file",
        ) from None
    except OSError as error:
        raise not_read(path, error) from error


def map_stream(path: Path) -> pa.Buffer:
    """The Arrow stream in a file, memory-mapped and checked."""
    return open_arrow(path, map_file(path))


def read_stream(path: Path) -> pa.Table:
    """All rows of a sealed Arrow stream, or of an Arrow file of an older version."""
    content = map_file(path)
    try:
        if content.slice(0, min(len(content), len(_FILE_FORMAT))).to_pybytes() == _FILE_FORMAT:
            return pa.ipc.open_file(content).read_all()
        return pa.ipc.open_stream(open_arrow(path, content)).read_all()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error


def write_arrays(path: Path, arrays: Sequence[Lane]) -> Seal:
    """Write arrays to an Arrow file, one row each, aligned so that a reader needs no copy; see `write_file`.

    Returns the size and the checksum that the file must have when it is read.
    """
    data = [_padded(array) for array in arrays]
    dtypes = [array.dtype.str for array in arrays]
    table = pa.table([dtypes, [array.shape for array in arrays], pa.array(data, pa.large_binary())], schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_table(table)
    content = sink.getvalue()
    write_file(path, content)
    return Seal.of(content)


class ArrayFile:
    """The arrays of a file by their places, memory-mapped and read-only."""

    def __init__(self, path: Path, seal: Seal | None = None) -> None:
        """A file of an older version has no seal: then it is taken as it is, and `seal` is computed from it."""
        self._path = path
        if not path.exists():
            raise CheckpointError(
                f"{path} is missing, though a manifest of the checkpoint names it",
                hint="restore it from a backup, or start the query anew with another checkpoint",
            )
        content = map_file(path)
        if seal is not None:
            seal.check(path, content)
        self.seal = seal or Seal.of(content)
        try:
            table = pa.ipc.open_file(content).read_all()
            self._dtypes, self._shapes, self._data = (table.column(name) for name in _SCHEMA.names)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise damaged(path, error) from error

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, place: int) -> Lane:
        if type(place) is not int or not 0 <= place < len(self):
            raise damaged(self._path, f"it must have an array {place!r}, but has {len(self)}")
        try:
            name, shape, data = self._dtypes[place].as_py(), self._shapes[place].as_py(), self._data[place].as_buffer()
        except (pa.ArrowException, ValueError) as error:
            raise damaged(self._path, error) from error
        try:
            if not isinstance(name, str) or not _DTYPES.fullmatch(name):
                raise TypeError(name)
            dtype = np.dtype(name)
        except (TypeError, ValueError) as error:
            raise damaged(self._path, f"array {place} has no known type: {name!r}") from error
        if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
            raise damaged(self._path, f"array {place} has no shape: {shape!r}")
        if data is None or prod(shape) * dtype.itemsize > len(data):
            had = 0 if data is None else len(data)
            raise damaged(self._path, f"array {place} of {name} {shape} does not fit its {had} bytes")
        return np.frombuffer(data, dtype=dtype, count=prod(shape)).reshape(shape)


def _padded(array: Lane) -> bytes:
    data = np.ascontiguousarray(array).tobytes()
    return data + b"\0" * (-len(data) % _ALIGNMENT)
