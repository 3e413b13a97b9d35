"""Rows that could not be read travel with the others, in two columns of their own, until the engine counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.schema import to_arrow

TEXT, REASON = "_corrupt_record", "_corrupt_reason"
ASIDE = Schema((Field(TEXT, DataType.STRING), Field(REASON, DataType.STRING)))


def split_aside(df: DataFrame, schema: Schema) -> tuple[DataFrame, DataFrame]:
    """The rows that could be read, with the columns of `schema`, and the others, as text and reason."""
    bad = F.col(REASON).isNotNull()
    return df.where(~bad).select(*schema.names), df.where(bad).select(*ASIDE.names)


def whole_rows(schema: Schema, row: Callable[[str], Column], reason: Column) -> list[Column]:
    """Columns as Spark's parsers give them, with the reason; of a row that does not fit, all or nothing is kept."""
    text = row(TEXT)
    columns = [F.when(text.isNull(), row(name)).alias(name) for name in schema.names]
    return [*columns, text.alias(TEXT), F.when(text.isNotNull(), reason).alias(REASON)]


def aside_batch(schema: Schema, texts: Sequence[str], reasons: Sequence[str]) -> pa.RecordBatch:
    """Unreadable rows: NULL in all columns of `schema`, then text and reason."""
    whole = to_arrow(schema + ASIDE)
    nulls = [pa.nulls(len(texts), field.type) for field in whole][: len(schema)]
    return pa.RecordBatch.from_arrays(
        [*nulls, pa.array(texts, pa.string()), pa.array(reasons, pa.string())], schema=whole
    )


def good_batches(schema: Schema, table: pa.Table) -> list[pa.RecordBatch]:
    """Rows that could be read, with the two columns NULL."""
    whole = to_arrow(schema + ASIDE)
    columns = [column.cast(field.type) for column, field in zip(table.columns, whole, strict=False)]
    nulls = [pa.nulls(table.num_rows, pa.string())] * len(ASIDE)
    batches: list[pa.RecordBatch] = pa.Table.from_arrays([*columns, *nulls], schema=whole).to_batches()
    return batches
