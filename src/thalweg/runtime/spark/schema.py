"""Schemas, here and on Spark: our six types are six of Spark's, and a TIMESTAMP is Spark's TIMESTAMP, in UTC."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as spark

from thalweg.core.errors import TypeMismatchError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType

_TO_SPARK: dict[DataType, spark.DataType] = {
    DataType.BOOLEAN: spark.BooleanType(),
    DataType.BIGINT: spark.LongType(),
    DataType.DOUBLE: spark.DoubleType(),
    DataType.STRING: spark.StringType(),
    DataType.TIMESTAMP: spark.TimestampType(),
    DataType.INTERVAL: spark.DayTimeIntervalType(),
}
_FROM_SPARK: dict[type[spark.DataType], DataType] = {
    **{type(theirs): ours for ours, theirs in _TO_SPARK.items()},
    spark.ByteType: DataType.BIGINT,
    spark.ShortType: DataType.BIGINT,
    spark.IntegerType: DataType.BIGINT,
    spark.FloatType: DataType.DOUBLE,
    spark.DecimalType: DataType.DOUBLE,
    spark.CharType: DataType.STRING,
    spark.VarcharType: DataType.STRING,
    spark.DateType: DataType.TIMESTAMP,
    spark.TimestampNTZType: DataType.TIMESTAMP,
}
_UTC = pa.timestamp("us", "UTC")


def to_spark(schema: Schema) -> spark.StructType:
    """The schema of a DataFrame with these columns."""
    return spark.StructType([spark.StructField(f.name, _TO_SPARK[f.type]) for f in schema])


def from_spark(struct: spark.StructType) -> Schema:
    """A DataFrame's columns in our types, into which a cast brings them; TypeMismatchError for one that has none."""
    return Schema(tuple(Field(field.name, _from_spark(field)) for field in struct.fields))


def to_arrow(schema: Schema) -> pa.Schema:
    """The Arrow schema in which Spark takes and gives these columns."""
    return pa.schema([(f.name, _UTC if f.type is DataType.TIMESTAMP else f.type.arrow) for f in schema])


def _from_spark(field: spark.StructField) -> DataType:
    found = _FROM_SPARK.get(type(field.dataType))
    if found is None:
        raise TypeMismatchError(
            f"column {field.name} has Spark's type {field.dataType.simpleString()}, which no stream can have",
            candidates=[theirs.simpleString() for theirs in _TO_SPARK.values()],
            hint="cast it, or leave the column out",
        )
    return found
