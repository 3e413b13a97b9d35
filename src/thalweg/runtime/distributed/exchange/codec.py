"""Batches as bytes: Arrow's stream format, with strings instead of codes, since every group has its own string pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Lane, from_lane, null_lane, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool

_TIMES = ("start", "end", "sign")


def to_arrow(batch: Batch, schema: Schema, pool: StringPool) -> pa.RecordBatch:
    """The columns, then start, end and sign, then ts and exp where there are dates."""
    columns = [from_lane(lane, field.type, pool) for lane, field in zip(batch.columns, schema, strict=True)]
    dates = () if batch.dates is None else (batch.dates.ts, batch.dates.exp)
    lanes = [pa.array(lane) for lane in (batch.start, batch.end, batch.sign, *dates)]
    names = [f"c{i}" for i in range(len(columns))] + list(_TIMES) + ["ts", "exp"][: len(dates)]
    return pa.RecordBatch.from_arrays([*columns, *lanes], names=names)


def from_arrow(table: pa.RecordBatch, schema: Schema, pool: StringPool) -> Batch:
    """The batch that `to_arrow` was given."""
    width = len(schema)
    columns = tuple(to_lane(table.column(i), field.type, pool) for i, field in enumerate(schema))
    start, end, sign, *dates = (_numbers(table.column(i)) for i in range(width, table.num_columns))
    return Batch(columns, start, end, sign, Dates(*dates) if dates else None)


def stream_lanes(table: pa.RecordBatch, needed: Sequence[int], schema: Schema, pool: StringPool) -> list[Lane]:
    """All columns of a stream's rows. The table has only the needed ones; the others are NULL."""
    places = {column: place for place, column in enumerate(needed)}
    return [
        to_lane(table.column(places[i]), field.type, pool) if i in places else null_lane(field.type, table.num_rows)
        for i, field in enumerate(schema)
    ]


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table in one record batch."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def pack(table: pa.RecordBatch) -> pa.Buffer:
    """One record batch as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_batch(table)
    return sink.getvalue()


def unpack(blob: bytes | pa.Buffer) -> pa.RecordBatch:
    """The record batch that `pack` was given, read in place."""
    with pa.ipc.open_stream(blob) as reader:
        return reader.read_next_batch()


def _numbers(array: pa.Array) -> np.ndarray:
    return np.asarray(array.to_numpy(zero_copy_only=True))
