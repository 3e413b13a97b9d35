"""Messages between tasks as rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from thalweg.runtime.distributed.exchange.blobs import LARGE, BlobFiles, Lying
from thalweg.runtime.distributed.exchange.message import Parcel

PARCELS = "group int, port int, part int, clock long, system long, blob binary, file string, first long, size long"

_SCHEMA = pa.schema(
    [
        ("group", pa.int32()),
        ("port", pa.int32()),
        ("part", pa.int32()),
        ("clock", pa.int64()),
        ("system", pa.int64()),
        ("blob", pa.binary()),
        ("file", pa.string()),  # instead of the blob, if that is large
        ("first", pa.int64()),
        ("size", pa.int64()),
    ]
)


def to_rows(parcels: Sequence[Parcel], files: BlobFiles, batch: int) -> pa.RecordBatch:
    """Parcels as rows; large blobs are written to a file."""
    large = [place for place, parcel in enumerate(parcels) if len(parcel.blob) >= LARGE]
    lying = dict(zip(large, files.put(batch, [parcels[place].blob for place in large]), strict=True)) if large else {}
    rows = [
        (*parcel[:5], *((b"", *lying[place]) if place in lying else (_bytes(parcel.blob), None, None, None)))
        for place, parcel in enumerate(parcels)
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def from_rows(batches: Iterable[pa.RecordBatch], files: BlobFiles) -> Iterator[Parcel]:
    """Parcels from rows; blobs stay where they lie."""
    for batch in batches:
        numbers = zip(*(batch.column(i).to_pylist() for i in range(5)), strict=True)
        places = zip(*(batch.column(i).to_pylist() for i in (6, 7, 8)), strict=True)
        blobs = batch.column(5)
        for row, ((group, port, part, clock, system), (file, first, size)) in enumerate(
            zip(numbers, places, strict=True)
        ):
            blob = blobs[row].as_buffer() if file is None else files.get(Lying(file, first, size))
            yield Parcel(group, port, part, clock, system, blob)


def for_every_shard(rows: DataFrame, port: int, clock: Column, shards: int, blob: Column | None = None) -> DataFrame:
    """Small parcels, one for each shard and row, made in the JVM: a source that is silent costs no task.

    In a micro-batch the current time is that of Spark's log of offsets, as in `batch_time`.
    """
    shard = sf.explode(sf.array(*map(sf.lit, range(shards)))).alias("group")
    nothing = [sf.lit(None).cast(kind) for kind in ("string", "long", "long")]
    system = sf.unix_micros(sf.current_timestamp())
    small = sf.lit(b"") if blob is None else blob
    return rows.select(shard, sf.lit(port), sf.lit(0), clock.cast("long"), system, small, *nothing).toDF(*_SCHEMA.names)


def _bytes(blob: bytes | pa.Buffer) -> bytes:
    return blob if isinstance(blob, bytes) else blob.to_pybytes()
