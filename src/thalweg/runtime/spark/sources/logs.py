"""Directories of network logs, gzipped or not: Zeek logs, as text or JSON lines, and files in LBL-CONN-7's format."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from thalweg.core.schema import Schema
from thalweg.formats.lbl import SCHEMA
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.files import logs


def zeek(
    spark: SparkSession,
    path: str | Path,
    schema: Schema,
    *,
    pattern: str = "*.log*",
    files_per_batch: int = 64,
    partitions: int | None = None,
) -> ArrowSource:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from the logs whose names match `pattern`.

    `id_orig_h` stands for Zeek's `id.orig_h`. `thalweg.formats.zeek_schema` returns the columns of a log. A log that
    lacks one of the columns stops the query.
    """
    return logs(spark, "zeek", str(path), schema, pattern, files_per_batch, partitions)


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
