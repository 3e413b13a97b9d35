"""Directories of network logs, gzipped or not: Zeek logs, as text or JSON lines, and files in LBL-CONN-7's format."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from thalweg.core.schema import Schema
from thalweg.formats.lbl import SCHEMA
from thalweg.formats.lines import LONGEST_LINE
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.file_memory import REMEMBER
from thalweg.runtime.spark.sources.files import listed_files
from thalweg.runtime.spark.sources.log_rows import LogRows


def zeek(
    spark: SparkSession,
    path: str | Path,
    schema: Schema,
    *,
    pattern: str = "*.log*",
    files_per_batch: int = 64,
    partitions: int | None = None,
    longest_line: int = LONGEST_LINE,
    remember_files: int = REMEMBER,
) -> ArrowSource:
    """The columns of `schema`, and BAD_ROW_COLUMNS, from the logs whose names match `pattern`.

    `id_orig_h` stands for Zeek's `id.orig_h`. `thalweg.formats.zeek_schema` returns the columns of a log. A log that
    lacks one of the columns stops the query. A line of more than `longest_line` bytes is a bad row. The source keeps
    the names of the last `remember_files` files that it has read.
    """
    files = listed_files(
        spark,
        str(path),
        pattern=pattern,
        files_per_batch=files_per_batch,
        partitions=partitions,
        remember=remember_files,
    )
    return ArrowSource(files, schema, LogRows(schema, "zeek", str(path), longest_line))


def lbl(
    spark: SparkSession,
    path: str | Path,
    schema: Schema = SCHEMA,
    *,
    pattern: str = "*",
    files_per_batch: int = 64,
    partitions: int | None = None,
    longest_line: int = LONGEST_LINE,
    remember_files: int = REMEMBER,
) -> ArrowSource:
    """Connections, with BAD_ROW_COLUMNS; `schema` selects from the format's nine columns. See `zeek` for the rest."""
    files = listed_files(
        spark,
        str(path),
        pattern=pattern,
        files_per_batch=files_per_batch,
        partitions=partitions,
        remember=remember_files,
    )
    return ArrowSource(files, schema, LogRows(schema, "lbl", str(path), longest_line))
