"""Rows whose keys are new strings of 32 characters, all of the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.pipeline import Pipeline, build

LENGTH = 32
_SCRIPT = "CREATE STREAM s (name STRING, v INT); CREATE STREAM t (name STRING, v INT);"
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
_SHIFTS = np.arange(60, -1, -4, dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BEFORE = -(10**6)


def strings(first: int, count: int) -> pa.Array:
    """The strings number `first` and on: sixteen digits of a mixed number, and sixteen of the number itself."""
    numbers = np.arange(first, first + count).view(np.uint64)
    digits = np.concatenate(
        [_HEX[((lane[:, None] >> _SHIFTS) & np.uint64(15)).astype(np.int64)] for lane in (numbers * _MIX, numbers)],
        axis=1,
    )
    offsets = np.arange(0, (count + 1) * LENGTH, LENGTH, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(digits.reshape(-1)))


def pipeline_of(query: str) -> Pipeline:
    """A pipeline over the streams s and t, which has begun."""
    catalog = Catalog()
    compile_script(_SCRIPT, catalog)
    pipeline = build(compile_query(query, catalog))
    pipeline.begin(_BEFORE)
    return pipeline


def step(pipeline: Pipeline, first: int, count: int, table: pa.Array | None = None) -> Batch:
    """One batch of so many rows for each stream, a row in every tick; the strings are the same in all streams."""
    pipeline.forget_strings()
    names = pipeline.pool.encode(strings(first, count) if table is None else table)
    ts = np.arange(first, first + count)
    tuples = Batch.of_arrivals((names, ts % 1000), ts, pipeline.dated)
    sources = {node.source for node in pipeline.nodes if node.operator is None}
    return pipeline.process(dict.fromkeys(sources, tuples), first + count - 1)


def arrays(tree: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays of a snapshot."""
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, dict | list | tuple):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from arrays(part)


def nbytes(tree: Any) -> int:
    """The size of a snapshot."""
    return sum(array.nbytes for array in {id(array): array for array in arrays(tree)}.values())
