"""A directory of Zeek logs of one kind, as text or JSON lines, gzipped or not."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from thalweg.core.schema import Schema
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
    """The columns of `schema` from the logs whose names match `pattern`, and ASIDE; `id.orig_h` is `id_orig_h` too.

    `thalweg.formats.zeek_schema` tells what a log has. A log without one of the columns stops the query and says so.
    """
    return logs(spark, "zeek", str(path), schema, pattern, files_per_batch, partitions)
