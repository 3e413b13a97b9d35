"""The changes of an answer as rows: the answer's columns, from when, until when, and the sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.types import ByteType, LongType, StructField, StructType, TimestampType

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, from_lane
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.core.types import DataType
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.spark.schema import to_spark

TS, EXP, SIGN = "_ts", "_exp", "_sign"


@dataclass(frozen=True)
class QueryAnswers:
    """The `AnswerFormat` of a query."""

    schema: Schema
    stamped: bool  # times are timestamps

    def type(self) -> StructType:
        """See `AnswerFormat`."""
        return answer_type(self.schema, self.stamped)

    def rows(self, parts: Sequence[AnswerPart]) -> Iterator[pa.RecordBatch]:
        """See `AnswerFormat`."""
        return (answer_rows(part.batch, self.schema, part.pool, self.stamped) for part in parts)


def answer_type(schema: Schema, stamped: bool) -> StructType:
    """The answer's columns, then from when, until when, and the sign."""
    time, named = TimestampType() if stamped else LongType(), to_spark(uniquely_named(schema))
    return StructType([*named.fields, StructField(TS, time), StructField(EXP, time), StructField(SIGN, ByteType())])


def answer_rows(batch: Batch, schema: Schema, pool: StringPool, stamped: bool) -> pa.RecordBatch:
    """Changes as rows: the columns, from when (NULL: ever since), until when (NULL: not known), the sign."""
    columns = [_as_spark(from_lane(lane, f.type, pool), f.type) for lane, f in zip(batch.columns, schema, strict=True)]
    ts, exp = _known(batch.start, batch.start < BEGINNING + 1), _known(batch.end, batch.end >= FOREVER)
    if stamped:
        ts, exp = (_as_spark(time.cast(pa.timestamp("us")), DataType.TIMESTAMP) for time in (ts, exp))
    names = [*uniquely_named(schema).names, TS, EXP, SIGN]
    return pa.RecordBatch.from_arrays([*columns, ts, exp, pa.array(batch.sign)], names=names)


def _known(time: Ints, unknown: Flags) -> pa.Array:
    """Times with NULLs; mostly none or all are NULL."""
    if unknown.all():
        return pa.nulls(len(time), pa.int64())
    return pa.array(time, mask=unknown if unknown.any() else None)


def uniquely_named(schema: Schema) -> Schema:
    """The columns under the names that they have in a DataFrame: of two equal names the second gets a number."""
    names: list[str] = []
    for name in schema.names:
        candidate, number = name, 2
        while candidate.casefold() in map(str.casefold, names):
            candidate, number = f"{name}_{number}", number + 1
        names.append(candidate)
    return Schema(tuple(Field(name, f.type) for name, f in zip(names, schema, strict=True)))


def _as_spark(array: pa.Array, type_: DataType) -> pa.Array:
    return array.cast(pa.timestamp("us", "UTC")) if type_ is DataType.TIMESTAMP else array
