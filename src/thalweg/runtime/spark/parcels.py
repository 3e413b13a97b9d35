"""Parcels between tasks: what `runtime/shards/worker.py` sends and receives, as rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from thalweg.runtime.shards.parcel import Parcel

PARCELS = "group int, port int, part int, clock long, system long, blob binary"

_SCHEMA = pa.schema(
    [
        ("group", pa.int32()),
        ("port", pa.int32()),
        ("part", pa.int32()),
        ("clock", pa.int64()),
        ("system", pa.int64()),
        ("blob", pa.binary()),
    ]
)


def to_rows(parcels: Sequence[Parcel]) -> pa.RecordBatch:
    """Parcels as rows."""
    # A parcel for a later stage still lies where it was received.
    plain = (p if isinstance(p.blob, bytes) else p._replace(blob=p.blob.to_pybytes()) for p in parcels)
    columns = list(zip(*plain, strict=True)) or [()] * len(_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def from_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Parcel]:
    """Parcels from rows; blobs stay where they lie."""
    for batch in batches:
        numbers = zip(*(batch.column(i).to_pylist() for i in range(5)), strict=True)
        blobs = batch.column(5)
        for place, (group, port, part, clock, system) in enumerate(numbers):
            yield Parcel(group, port, part, clock, system, blobs[place].as_buffer())
