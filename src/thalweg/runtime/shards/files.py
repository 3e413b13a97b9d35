"""Files that are there as a whole or not at all, and arrays in them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa

from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Lane

_SCHEMA = pa.schema([("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.large_binary())])
_ALIGNMENT = 8


def replace_file(path: Path, content: bytes | pa.Buffer) -> None:
    """Write a file under another name, bring it to disk, and give it its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    other = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    with other.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    other.replace(path)


def write_arrays(path: Path, arrays: Sequence[Lane]) -> None:
    """Arrays as an Arrow file of one row each, so laid out that they can be used where they lie."""
    data = [_padded(array) for array in arrays]
    dtypes = [array.dtype.str for array in arrays]
    table = pa.table([dtypes, [array.shape for array in arrays], pa.array(data, pa.large_binary())], schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_table(table)
    replace_file(path, sink.getvalue())


def read_arrays(path: Path) -> list[Lane]:
    """The arrays of a file, memory-mapped and read-only."""
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except FileNotFoundError:
        raise CheckpointError(
            f"{path} is missing, though a manifest of the checkpoint names it",
            hint="a file of the checkpoint was deleted; restore it, or start the query anew with another checkpoint",
        ) from None
    except pa.ArrowInvalid as error:
        raise CheckpointError(f"{path} cannot be read: {error}", hint="restore the file from a backup") from error
    arrays: list[Lane] = []
    for dtype, shape, data in zip(*(table.column(name) for name in _SCHEMA.names), strict=True):
        count = int(np.prod(shape.as_py()))
        flat = np.frombuffer(data.as_buffer(), dtype=np.dtype(dtype.as_py()), count=count)
        arrays.append(flat.reshape(shape.as_py()))
    return arrays


def _padded(array: Lane) -> bytes:
    data = np.ascontiguousarray(array).tobytes()
    return data + b"\0" * (-len(data) % _ALIGNMENT)
