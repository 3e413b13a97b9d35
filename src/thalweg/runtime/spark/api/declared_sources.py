"""The streams and tables of an engine on Spark: DataFrames that were declared, and statistics of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.time import SECOND
from thalweg.runtime.distributed.ingest.quota import QUOTA, Quota
from thalweg.runtime.spark.api.statistics import sample_stream, sample_table
from thalweg.runtime.spark.inputs import Late, StreamInput, TableInput, stream_input, table_input
from thalweg.runtime.spark.sources.arrow import ArrowSource


class DeclaredSources:
    """The part of `Engine` that declares streams and tables."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark, self.catalog = spark, Catalog()
        self._streams: dict[str, StreamInput] = {}
        self._tables: dict[str, TableInput] = {}

    def stream(
        self,
        name: str,
        df: DataFrame | ArrowSource,
        *,
        timestamp: str = "ts",
        lateness: str | int | None = None,
        idle: str | None = None,
        ahead: str | None = "1 day",
        keep_late: Late = "whole",
        side_output_rows: int = QUOTA.rows,
        side_output_bytes: int = QUOTA.bytes,
        rate: float | None = None,
        distinct: Mapping[str, float] | None = None,
    ) -> None:
        """Declare a stream: a streaming DataFrame, or a source whose rows Arrow reads (`sources.parquet`).

        `timestamp` names the column with the time of a row: a TIMESTAMP, or an integer for plain ticks (which then is
        no column of the stream). The watermark stays behind the newest row by `lateness` ("5 seconds"); rows behind the
        watermark go to the side output of late rows. After `idle` without rows the stream's time follows the system's
        clock, so that no query waits for the stream. Rows whose time is ahead of the system's clock by more than
        `ahead` go to the side output of bad rows. Late rows are kept with all columns; with `keep_late="needed"` only
        with those that a query reads, and the others never leave Spark's JVM. Of late rows, and of bad ones, a query
        keeps the first `side_output_rows` up to `side_output_bytes`; the others are only counted.

        `rate` (rows per second, or per tick) and `distinct` (by column, the number of values) help to choose plans.
        """
        declared = stream_input(
            name, df, timestamp, lateness, idle, ahead, keep_late, Quota(side_output_rows, side_output_bytes)
        )
        if rate is not None or distinct:
            per = SECOND if declared.stream.timestamp is not None else 1
            known = SourceStatistics(None if rate is None else rate / per, None, dict(distinct or {}))
            declared = declared.known_as(known)
        self.catalog.add(declared.stream)
        self._streams[declared.stream.name] = declared

    def relation(
        self,
        name: str,
        df: DataFrame | str,
        *,
        key: str | Sequence[str] | None = None,
        retroactive: bool = False,
        broadcast: bool | None = None,
    ) -> None:
        """Declare a table: a DataFrame, or the name of one of Spark's tables.

        A query reads the table once, when it first starts. A streaming DataFrame gives changes instead: rows that the
        table gains, or loses if a column `_op` says `-`; a column `_at` gives the time of the change. With a `key` a
        row replaces the row with the same key, and to delete a row its key is enough. Without a key the whole row is
        needed to delete it, and equal rows are counted. With `retroactive` a change also changes the results of older
        tuples (a relation); without, only those of later tuples (an NRR). The clock follows the streams; in a query
        over tables alone time passes only by `advance`.

        With `broadcast` every group of keys gets a copy of the table, so a stream that is joined with it needs no
        exchange. By default a table that does not change is broadcast if Spark would do so
        (`spark.sql.autoBroadcastJoinThreshold`).
        """
        frame = self.spark.table(df) if isinstance(df, str) else df
        names = key if key is None or isinstance(key, str) else list(key)
        declared = table_input(name, frame, names, retroactive, broadcast)
        self.catalog.add(declared.relation)
        self._tables[declared.relation.name] = declared

    def sample(self, name: str, df: DataFrame | None = None) -> None:
        """Measure statistics of a stream or table on a bounded DataFrame of its rows, for the choice of plans.

        Queries that are made from now on use them. A table that does not change needs no `df`.
        """
        entry = self.catalog.get(name)
        if entry.name in self._streams:
            stream = self._streams[entry.name]
            found = stream.known_as(sample_stream(stream, stream.frame if df is None else df))
            self._streams[entry.name] = found
            self.catalog.replace(found.stream)
            return
        table = self._tables[entry.name]
        held = table.known_as(sample_table(table, table.frame if df is None else df))
        self._tables[entry.name] = held
        self.catalog.replace(held.relation)
