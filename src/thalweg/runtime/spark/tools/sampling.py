"""Statistics of a stream or table from a bounded DataFrame, counted by Spark."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.errors import DataError
from thalweg.runtime.spark.api.inputs import StreamInput, TableInput


def sample_stream(stream: StreamInput, frame: DataFrame) -> SourceStatistics:
    """The rate is rows over the time from the first to the last; values are counted approximately."""
    _check_bounded(frame, stream.stream.name)
    stamped = stream.stream.timestamp is not None
    time = sf.col(f"`{stream.time_column}`")
    ticks = sf.unix_micros(time.cast("timestamp")) if stamped else time.cast("long")
    span = (sf.max(ticks) - sf.min(ticks)).alias("_span")
    rows, distinct, more = _counted(frame, stream.stream.schema.names, span)
    return SourceStatistics(rows / more["_span"] if more["_span"] else None, None, distinct, "sampled")


def sample_table(table: TableInput, frame: DataFrame) -> SourceStatistics:
    """The number of rows, and of distinct values."""
    _check_bounded(frame, table.relation.name)
    rows, distinct, _ = _counted(frame, table.relation.schema.names)
    return SourceStatistics(None, rows or None, distinct, "sampled")


def _counted(frame: DataFrame, names: Sequence[str], *more: Column) -> tuple[float, dict[str, float], dict[str, float]]:
    known = [name for name in names if name in frame.columns]
    values = [sf.approx_count_distinct(f"`{name}`").alias(f"_{i}") for i, name in enumerate(known)]
    found = frame.agg(sf.count("*").alias("_rows"), *values, *more).first()
    assert found is not None
    distinct = {name: float(found[f"_{i}"]) for i, name in enumerate(known) if found[f"_{i}"]}
    return float(found["_rows"]), distinct, {k: v for k, v in found.asDict().items() if k == "_span"}


def _check_bounded(frame: DataFrame, name: str) -> None:
    if frame.isStreaming:
        raise DataError(
            f"a sample of {name} is taken from a bounded DataFrame, and this one streams",
            hint="give sample() some of its rows: spark.read instead of spark.readStream",
        )
