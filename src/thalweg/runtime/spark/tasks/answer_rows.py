"""The changes of an answer as rows: the answer's columns, the start and the end of an interval, and the sign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.types import ByteType, LongType, StructField, StructType, TimestampType

from thalweg.core.lanes import Flags, Ints, from_lane
from thalweg.core.schema import Field, Schema
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

    def rows(self, parts: Iterable[AnswerPart]) -> Iterator[pa.RecordBatch]:
        """The columns, from when (NULL: from the start), until when (NULL: not known), and the sign."""
        names = [*uniquely_named(self.schema).names, TS, EXP, SIGN]
        for batch, _, pool, *_ in parts:
            lanes = zip(batch.columns, self.schema, strict=True)
            columns = [_as_spark(from_lane(lane, field.type, pool), field.type) for lane, field in lanes]
            ts, exp = _known(batch.start, batch.start < BEGINNING + 1), _known(batch.end, batch.end >= FOREVER)
            if self.stamped:
                ts, exp = (_as_spark(time.cast(pa.timestamp("us")), DataType.TIMESTAMP) for time in (ts, exp))
            yield pa.RecordBatch.from_arrays([*columns, ts, exp, pa.array(batch.sign)], names=names)


def answer_type(schema: Schema, stamped: bool) -> StructType:
    """The columns of such rows on Spark."""
    time, named = TimestampType() if stamped else LongType(), to_spark(uniquely_named(schema))
    return StructType([*named.fields, StructField(TS, time), StructField(EXP, time), StructField(SIGN, ByteType())])


def _known(time: Ints, unknown: Flags) -> pa.Array:
    """Times with NULL where they are unknown; mostly none or all are."""
    if unknown.all():
        return pa.nulls(len(time), pa.int64())
    return pa.array(time, mask=unknown if unknown.any() else None)


def uniquely_named(schema: Schema) -> Schema:
    """The columns under the names that they have in a DataFrame: of two equal names the second gets a number.

    The names of the columns that are added to every change count as taken.
    """
    taken, names = {TS, EXP, SIGN}, list[str]()
    for name in schema.names:
        candidate, number = name, 2
        while candidate.casefold() in taken:
            candidate, number = f"{name}_{number}", number + 1
        taken.add(candidate.casefold())
        names.append(candidate)
    return Schema(tuple(Field(name, f.type) for name, f in zip(names, schema, strict=True)))


def _as_spark(array: pa.Array, type_: DataType) -> pa.Array:
    return array.cast(pa.timestamp("us", "UTC")) if type_ is DataType.TIMESTAMP else array
