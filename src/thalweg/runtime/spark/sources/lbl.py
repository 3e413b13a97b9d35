"""A directory of files in LBL-CONN-7's format, gzipped or not."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from thalweg.core.schema import Schema
from thalweg.formats.lbl import SCHEMA
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.files import logs


def lbl(
    spark: SparkSession,
    path: str | Path,
    schema: Schema = SCHEMA,
    *,
    pattern: str = "*",
    files_per_batch: int = 64,
    partitions: int | None = None,
) -> ArrowSource:
    """Connections, with BAD_ROW_COLUMNS; `schema` selects from the format's nine columns."""
    return logs(spark, "lbl", str(path), schema, pattern, files_per_batch, partitions)
