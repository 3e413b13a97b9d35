"""Bad rows: their text and the reason travel in two columns beside the good rows, until the engine counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.schema import to_arrow

BAD_ROW_TEXT, BAD_ROW_REASON = "_corrupt_record", "_corrupt_reason"
BAD_ROW_COLUMNS = Schema((Field(BAD_ROW_TEXT, DataType.STRING), Field(BAD_ROW_REASON, DataType.STRING)))


def split_bad_rows(df: DataFrame, schema: Schema) -> tuple[DataFrame, DataFrame]:
    """The good rows, with the columns of `schema`, and the bad rows, as text and reason."""
    bad = F.col(BAD_ROW_REASON).isNotNull()
    return df.where(~bad).select(*schema.names), df.where(bad).select(*BAD_ROW_COLUMNS.names)


def whole_rows(schema: Schema, row: Callable[[str], Column], reason: Column) -> list[Column]:
    """The columns that Spark's parsers return, and the reason; a row with one bad cell is NULL in all of `schema`."""
    text = row(BAD_ROW_TEXT)
    columns = [F.when(text.isNull(), row(name)).alias(name) for name in schema.names]
    return [*columns, text.alias(BAD_ROW_TEXT), F.when(text.isNotNull(), reason).alias(BAD_ROW_REASON)]


def bad_batch(schema: Schema, texts: Sequence[str], reasons: Sequence[str]) -> pa.RecordBatch:
    """Bad rows: NULL in all columns of `schema`, then text and reason."""
    whole = to_arrow(schema + BAD_ROW_COLUMNS)
    nulls = [pa.nulls(len(texts), field.type) for field in whole][: len(schema)]
    return pa.RecordBatch.from_arrays(
        [*nulls, pa.array(texts, pa.string()), pa.array(reasons, pa.string())], schema=whole
    )


def good_batches(schema: Schema, table: pa.Table) -> list[pa.RecordBatch]:
    """Good rows: the columns of `schema`, then NULL as text and reason."""
    whole = to_arrow(schema + BAD_ROW_COLUMNS)
    columns = [column.cast(field.type) for column, field in zip(table.columns, whole, strict=False)]
    nulls = [pa.nulls(table.num_rows, pa.string())] * len(BAD_ROW_COLUMNS)
    batches: list[pa.RecordBatch] = pa.Table.from_arrays([*columns, *nulls], schema=whole).to_batches()
    return batches
