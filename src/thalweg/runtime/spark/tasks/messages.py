"""Messages between tasks as rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from thalweg.runtime.distributed.exchange.blobs import FILE_FROM_BYTES, BlobFiles, BlobRef
from thalweg.runtime.distributed.exchange.message import Message, MessageKind

MESSAGES = (
    "kind int, group int, port int, part int, clock long, system long, blob binary, "
    "file string, offset long, size long, checksum string"  # a `BlobRef` instead of the blob, if that is large
)

MESSAGE_SCHEMA = pa.schema(
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
        ("checksum", pa.string()),
    ]
)
_NUMBERS = 6  # columns before the blob


def to_rows(messages: Sequence[Message], files: BlobFiles, batch: int) -> pa.RecordBatch:
    """Messages as rows; large blobs are written to a file."""
    large = [i for i, message in enumerate(messages) if len(message.blob) >= FILE_FROM_BYTES]
    refs = dict(zip(large, files.write(batch, [messages[i].blob for i in large]), strict=True)) if large else {}
    rows = [
        (
            *message[:_NUMBERS],
            *((b"", *refs[i]) if i in refs else (_bytes(message.blob), *[None] * len(BlobRef._fields))),
        )
        for i, message in enumerate(messages)
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(MESSAGE_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, MESSAGE_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=MESSAGE_SCHEMA)


def from_rows(batches: Iterable[pa.RecordBatch], files: BlobFiles) -> Iterator[Message]:
    """Messages from rows; blobs are not copied."""
    for batch in batches:
        numbers = zip(*(batch.column(i).to_pylist() for i in range(_NUMBERS)), strict=True)
        refs = zip(*(batch.column(i).to_pylist() for i in range(_NUMBERS + 1, len(MESSAGE_SCHEMA))), strict=True)
        blobs = batch.column(_NUMBERS)
        for row, ((kind, group, port, part, clock, system), ref) in enumerate(zip(numbers, refs, strict=True)):
            blob = blobs[row].as_buffer() if ref[0] is None else files.read(BlobRef(*ref))
            yield Message(MessageKind(kind), group, port, part, clock, system, blob)


def _bytes(blob: bytes | pa.Buffer) -> bytes:
    return blob if isinstance(blob, bytes) else blob.to_pybytes()
