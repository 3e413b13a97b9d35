"""Messages between tasks as rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from thalweg.runtime.distributed.exchange.blobs import FILE_FROM_BYTES, BlobFiles, BlobRef
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.spark.tasks.running_task import batch_time_column

MESSAGES = (
    "kind int, group int, port int, part int, clock long, system long, blob binary, "
    "file string, offset long, size long"  # a `BlobRef` instead of the blob, if that is large
)

_SCHEMA = pa.schema(
    [
        ("kind", pa.int32()),
        ("group", pa.int32()),
        ("port", pa.int32()),
        ("part", pa.int32()),
        ("clock", pa.int64()),
        ("system", pa.int64()),
        ("blob", pa.binary()),
        ("file", pa.string()),
        ("offset", pa.int64()),
        ("size", pa.int64()),
    ]
)
_NUMBERS = 6  # columns before the blob


def to_rows(messages: Sequence[Message], files: BlobFiles, batch: int) -> pa.RecordBatch:
    """Messages as rows; large blobs are written to a file."""
    large = [i for i, message in enumerate(messages) if len(message.blob) >= FILE_FROM_BYTES]
    refs = dict(zip(large, files.write(batch, [messages[i].blob for i in large]), strict=True)) if large else {}
    rows = [
        (*message[:_NUMBERS], *((b"", *refs[i]) if i in refs else (_bytes(message.blob), None, None, None)))
        for i, message in enumerate(messages)
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def from_rows(batches: Iterable[pa.RecordBatch], files: BlobFiles) -> Iterator[Message]:
    """Messages from rows; blobs are not copied."""
    for batch in batches:
        numbers = zip(*(batch.column(i).to_pylist() for i in range(_NUMBERS)), strict=True)
        refs = zip(*(batch.column(i).to_pylist() for i in range(_NUMBERS + 1, len(_SCHEMA))), strict=True)
        blobs = batch.column(_NUMBERS)
        for row, ((kind, group, port, part, clock, system), ref) in enumerate(zip(numbers, refs, strict=True)):
            blob = blobs[row].as_buffer() if ref[0] is None else files.read(BlobRef(*ref))
            yield Message(MessageKind(kind), group, port, part, clock, system, blob)


def for_every_shard(
    rows: DataFrame, shards: int, kind: MessageKind | Column, clock: Column, blob: Column | None = None
) -> DataFrame:
    """One message for each shard and row, made in the JVM: a source that is silent costs no task."""
    shard = sf.explode(sf.array(*map(sf.lit, range(shards)))).alias("group")
    zero, no_ref = sf.lit(0), [sf.lit(None).cast(type_) for type_ in ("string", "long", "long")]
    kinds = sf.lit(int(kind)) if isinstance(kind, MessageKind) else kind.cast("int")
    content = sf.lit(b"") if blob is None else blob
    columns = [kinds, shard, zero, zero, clock.cast("long"), batch_time_column(), content, *no_ref]
    return rows.select(*columns).toDF(*_SCHEMA.names)


def _bytes(blob: bytes | pa.Buffer) -> bytes:
    return blob if isinstance(blob, bytes) else blob.to_pybytes()
