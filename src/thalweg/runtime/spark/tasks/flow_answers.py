"""The changes of a flow's answers. Queries have different columns, so rows of queries with equal columns are packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.exchange.codec import from_arrow, pack, to_arrow, unpack
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.spark.tasks.answer_rows import QueryAnswers
from thalweg.runtime.spark.tasks.read import ArrowTask

QUERIES, CHANGES = "queries", "changes"
PACKED_ANSWERS = StructType([StructField(QUERIES, ArrayType(StringType())), StructField(CHANGES, BinaryType())])

_OWNER = "owner"


@dataclass(frozen=True)
class FlowAnswers:
    """The `AnswerFormat` of a flow: one row for each part."""

    def type(self) -> StructType:
        """See `AnswerFormat`."""
        return PACKED_ANSWERS

    def rows(self, parts: Sequence[AnswerPart]) -> Iterator[pa.RecordBatch]:
        """See `AnswerFormat`."""
        if parts:
            queries = pa.array([part.queries for part in parts], pa.list_(pa.string()))
            changes = pa.array([_packed(part) for part in parts], pa.binary())
            yield pa.RecordBatch.from_arrays([queries, changes], names=[QUERIES, CHANGES])


def _packed(part: AnswerPart) -> bytes:
    """The tuples, and in a last column the owner of each: the position of its query."""
    rows = to_arrow(part.batch, part.schema, part.pool)
    return bytes(pack(rows.append_column(_OWNER, pa.array(part.owners))).to_pybytes())


def unpacking(query: str, schema: Schema, stamped: bool) -> ArrowTask:
    """The function for `mapInArrow` that gives the changes of one query as rows."""

    answers = QueryAnswers(schema, stamped)

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for queries, blob in zip(batch.column(QUERIES).to_pylist(), batch.column(CHANGES), strict=True):
                packed, pool = unpack(blob.as_buffer()), StringPool()
                mine = pc.equal(packed.column(_OWNER), queries.index(query))
                changes = from_arrow(packed.drop_columns([_OWNER]).filter(mine), schema, pool)
                yield from answers.rows([AnswerPart(changes, schema, pool)])

    return rows
