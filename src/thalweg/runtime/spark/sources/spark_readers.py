"""Sources through Spark's own readers: a directory of CSV files or JSON lines, and a socket.

A row that does not fit the declared types becomes a bad row. A file that does not fit the schema is never hidden: a
CSV file with another header stops the query, for nothing but the header names its cells; a JSON file that lacks a
declared column, which Spark would silently read as NULL, adds one bad row that names the column. A directory of
Parquet files is read by `parquet`.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, BAD_ROW_TEXT, whole_rows
from thalweg.runtime.spark.sources.drift import drifted_files
from thalweg.runtime.spark.sources.parquet import parquet

_SMALLEST_HASH = -(2**31)
FORMATS = ("csv", "json", "parquet")


def directory(
    spark: SparkSession,
    path: str | Path,
    schema: Schema,
    format: str,
    *,
    pattern: str = "*",
    files_per_batch: int = 1_000,
) -> DataFrame:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from the files whose names match `pattern`.

    Timestamps without a time zone are UTC.
    """
    if format not in FORMATS:
        raise DataError(f"a directory holds no {format!r} files", candidates=FORMATS)
    if format == "parquet":
        return parquet(spark, path, schema, pattern=pattern, files_per_batch=files_per_batch).dataframe()
    reader = spark.readStream.format(format).option("pathGlobFilter", pattern)
    reader = reader.option("maxFilesPerTrigger", files_per_batch).option("timeZone", "UTC")
    reader = reader.option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", BAD_ROW_TEXT)
    if format == "csv":
        reader = reader.option("header", True).option("enforceSchema", False)  # compare it with the schema
    rows = reader.schema(to_spark(schema + Schema((Field(BAD_ROW_TEXT, DataType.STRING),)))).load(str(path))
    # This condition is always true, but it makes Spark parse every column, even those that the query does not read:
    # otherwise the same row could be bad in one query and good in another.
    rows = rows.where(F.hash(*schema.names) >= _SMALLEST_HASH)
    where = F.concat(F.col("_metadata.file_name"), F.lit(": this does not fit the schema"))
    whole = rows.select(*whole_rows(schema, F.col, where))
    if format == "csv":
        return whole
    return whole.unionByName(drifted_files(spark, str(path), schema, pattern, files_per_batch))


def socket(spark: SparkSession, host: str, port: int, schema: Schema) -> DataFrame:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from one JSON object per line, for experiments.

    A name that is absent reads as NULL; empty lines are skipped. A socket cannot send its rows again, and Spark keeps
    them in memory only: rows of a micro-batch that failed are lost after a restart. Use a directory or a message queue
    where that matters.
    """
    lines = spark.readStream.format("socket").option("host", host).option("port", port).load()
    whole = to_spark(schema + BAD_ROW_COLUMNS)
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD_ROW_TEXT, "timeZone": "UTC"}
    parsed = lines.where(F.trim("value") != "").select(F.from_json("value", whole, options).alias("row"))
    return parsed.select(*whole_rows(schema, F.col("row").getField, F.lit("this does not fit the schema")))
