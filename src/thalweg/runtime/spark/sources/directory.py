"""A directory of CSV files or JSON lines, through Spark's own readers, or of Parquet files (see `parquet`).

A row that does not fit its types is put aside by Spark. A file that does not fit the schema is another matter, and no
format hides it: a CSV file whose header differs stops the query (its cells have no other names), and of a JSON file
that lacks a declared column, which Spark would read as NULL, one row aside tells.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.aside import TEXT, whole_rows
from thalweg.runtime.spark.sources.drift import drifted_files
from thalweg.runtime.spark.sources.parquet import parquet

_LEAST_HASH = -(2**31)
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
    """The columns of `schema` from the files whose names match `pattern`, and ASIDE. Times without a zone are UTC's."""
    if format not in FORMATS:
        raise DataError(f"a directory holds no {format!r} files", candidates=FORMATS)
    if format == "parquet":
        return parquet(spark, path, schema, pattern=pattern, files_per_batch=files_per_batch).dataframe()
    reader = spark.readStream.format(format).option("pathGlobFilter", pattern)
    reader = reader.option("maxFilesPerTrigger", files_per_batch).option("timeZone", "UTC")
    reader = reader.option("mode", "PERMISSIVE").option("columnNameOfCorruptRecord", TEXT)
    if format == "csv":
        reader = reader.option("header", True).option("enforceSchema", False)  # compare it with the schema
    rows = reader.schema(to_spark(schema + Schema((Field(TEXT, DataType.STRING),)))).load(str(path))
    # Always true, but it makes Spark parse every column even if a query wants few: else a row would be bad in one
    # query and good in another.
    rows = rows.where(F.hash(*schema.names) >= _LEAST_HASH)
    where = F.concat(F.col("_metadata.file_name"), F.lit(": this does not fit the schema"))
    whole = rows.select(*whole_rows(schema, F.col, where))
    if format == "csv":
        return whole
    return whole.unionByName(drifted_files(spark, str(path), schema, pattern, files_per_batch))
