"""Sources that Spark parses: a directory of CSV files or JSON lines, and a socket.

A row that does not fit the declared types becomes a bad row. A file that does not fit the schema is never hidden: a
CSV file with another header stops the query, for nothing but the header names its cells; a JSON file that lacks a
declared column, which Spark would silently read as NULL, adds one bad row that names the column. A directory of
Parquet files is read by `parquet`.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.formats.lines import LONGEST_LINE
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, BAD_ROW_REASON, BAD_ROW_TEXT, whole_rows
from thalweg.runtime.spark.sources.file_memory import REMEMBER
from thalweg.runtime.spark.sources.files import listed_files
from thalweg.runtime.spark.sources.parquet import parquet
from thalweg.runtime.spark.sources.text_files import LINE, LINES, PLACE, REASON, TextFiles

_SMALLEST_HASH = -(2**31)
_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD_ROW_TEXT, "timeZone": "UTC"}
FORMATS = ("csv", "json", "parquet")


def directory(
    spark: SparkSession,
    path: str | Path,
    schema: Schema,
    format: str,
    *,
    pattern: str = "*",
    files_per_batch: int = 1_000,
    longest_line: int = LONGEST_LINE,
    remember_files: int = REMEMBER,
) -> DataFrame:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from the files whose names match `pattern`.

    Timestamps without a time zone are UTC. A line of more than `longest_line` bytes, or one that is not UTF-8, is a bad
    row. The source keeps the names of the last `remember_files` files that it has read.
    """
    if format not in FORMATS:
        raise DataError(f"a directory holds no {format!r} files", candidates=FORMATS)
    if format == "parquet":
        source = parquet(
            spark, path, schema, pattern=pattern, files_per_batch=files_per_batch, remember_files=remember_files
        )
        return source.dataframe()
    files = listed_files(
        spark, str(path), pattern=pattern, files_per_batch=files_per_batch, recursive=True, remember=remember_files
    )
    lines = files.mapInArrow(TextFiles(str(path), schema, format, longest_line), LINES)
    text = F.when(F.col(REASON).isNull(), F.col(LINE))
    rows = lines.select(LINE, PLACE, REASON, _parsed(format, text, schema).alias("_row"))
    # This condition is always true, but it makes Spark parse every column, even those that the query does not read:
    # otherwise the same row could be bad in one query and good in another.
    rows = rows.where(F.hash("_row") >= _SMALLEST_HASH)
    misfit = F.concat(F.col(PLACE), F.lit(": this does not fit the schema"))
    columns = [F.col("_row").getField(f"c{i}").alias(name) for i, name in enumerate(schema.names)]
    corrupt = F.col("_row").getField(BAD_ROW_TEXT).isNotNull()
    reason = F.coalesce(F.col(REASON), F.when(corrupt, misfit))
    rows = rows.select(*columns, F.when(reason.isNotNull(), F.col(LINE)).alias(BAD_ROW_TEXT), reason.alias(REASON))
    whole = [F.when(F.col(REASON).isNull(), F.col(f"`{name}`")).alias(name) for name in schema.names]
    return rows.select(*whole, BAD_ROW_TEXT, F.col(REASON).alias(BAD_ROW_REASON))


def _parsed(format: str, text: Column, schema: Schema) -> Column:
    """The line as a struct of c0, c1, ... and BAD_ROW_TEXT, which is NULL if the line fits."""
    if format == "csv":
        numbered = Schema(tuple(Field(f"c{i}", field.type) for i, field in enumerate(schema)))
        whole = to_spark(numbered + Schema((Field(BAD_ROW_TEXT, DataType.STRING),)))
        ddl = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in whole.fields)
        return F.from_csv(text, ddl, _OPTIONS)
    row = F.from_json(text, to_spark(schema + Schema((Field(BAD_ROW_TEXT, DataType.STRING),))), _OPTIONS)
    cells = [row.getField(name).alias(f"c{i}") for i, name in enumerate(schema.names)]
    return F.struct(*cells, row.getField(BAD_ROW_TEXT).alias(BAD_ROW_TEXT))


def socket(spark: SparkSession, host: str, port: int, schema: Schema) -> DataFrame:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from one JSON object per line, for experiments.

    A name that is absent reads as NULL; empty lines are skipped. A socket cannot send its rows again, and Spark keeps
    them in memory only: rows of a micro-batch that failed are lost after a restart. Use a directory or a message queue
    where that matters.
    """
    lines = spark.readStream.format("socket").option("host", host).option("port", port).load()
    whole = to_spark(schema + BAD_ROW_COLUMNS)
    parsed = lines.where(F.trim("value") != "").select(F.from_json("value", whole, _OPTIONS).alias("row"))
    return parsed.select(*whole_rows(schema, F.col("row").getField, F.lit("this does not fit the schema")))
