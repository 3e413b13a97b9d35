"""`tw.Engine`: streams, tables and standing queries on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.errors import PlanError
from thalweg.core.time import SECOND
from thalweg.cql import compile_query, register
from thalweg.fluent import Table
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import check
from thalweg.runtime.distributed.checkpoint.folder import Asked
from thalweg.runtime.spark.api.flow import SparkFlow
from thalweg.runtime.spark.api.inputs import Late, StreamInput, TableInput, stream_input, table_input
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.api.query import Asking, SparkQuery
from thalweg.runtime.spark.compile.heartbeat import interval
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.tools.sampling import sample_stream, sample_table


class Engine:
    """Standing queries over streaming DataFrames.

    `spark` is yours, or, if you give none, a local one is started. `shards` is how many parts a query's state is split
    into, each for one task; a query that was stopped can go on in another number. Without it there is one for each
    core, or as many as a query's checkpoint has. `groups` is the greatest number of shards that a query can ever have:
    keys are spread over so many groups for good. Without it queries can grow to four times their first shards. A query
    can be given numbers of its own.
    """

    def __init__(self, spark: SparkSession | None = None, shards: int | None = None, groups: int | None = None) -> None:
        self.spark = spark or local_spark()
        self.shards, self.groups = shards, groups
        self.catalog = Catalog()
        self._streams: dict[str, StreamInput] = {}
        self._tables: dict[str, TableInput] = {}

    # -- declaring

    def stream(
        self,
        name: str,
        df: DataFrame | ArrowSource,
        timestamp: str = "ts",
        lateness: str | int | None = None,
        idle: str | None = None,
        ahead: str | None = "1 day",
        keep_late: Late = "whole",
        rate: float | None = None,
        distinct: Mapping[str, float] | None = None,
    ) -> None:
        """Make a streaming DataFrame known as a stream, or a source whose rows Arrow reads (`sources.parquet`).

        `timestamp` names the column with the time of a row: a TIMESTAMP, or an integer for plain ticks (which then is
        no column of the stream). Rows may come late by `lateness` ("5 seconds"); later ones are kept aside. After
        `idle` without rows the stream's time goes on with the system's clock, so that it keeps nobody waiting. Rows
        whose time is `ahead` of the system's clock by more than this are kept aside. Late rows are kept whole; with
        `keep_late="needed"` only in the columns that a query reads, and the others never leave Spark's JVM.

        `rate` (rows per second, or per tick) and `distinct` (by column, how many values) help to choose plans.
        """
        declared = stream_input(name, df, timestamp, lateness, idle, ahead, keep_late)
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
        key: str | Sequence[str] | None = None,
        retroactive: bool = False,
        broadcast: bool | None = None,
    ) -> None:
        """Make a table known: a DataFrame, or the name of one of Spark's.

        A query takes the table as it is when it first starts. A streaming DataFrame brings changes instead: rows that
        the table gains, or loses if a column `_op` says `-`; a column `_at` tells since when. With a `key` a row
        replaces the one that has its key, and of a row that is lost the key is enough; without, rows are whole, and
        as often there as they were gained. With `retroactive` a change also concerns older tuples (a relation);
        without, only those that come after it (an NRR). Time is the streams'; a query over tables alone waits for
        `advance`.

        With `broadcast` every group of keys gets a copy of the table, so that a stream that is joined with it stays
        where it is; by default a table that does not change is copied if Spark would broadcast it
        (`spark.sql.autoBroadcastJoinThreshold`).
        """
        frame = self.spark.table(df) if isinstance(df, str) else df
        names = key if key is None or isinstance(key, str) else list(key)
        declared = table_input(name, frame, names, retroactive, broadcast)
        self.catalog.add(declared.relation)
        self._tables[declared.relation.name] = declared

    def sample(self, name: str, df: DataFrame | None = None) -> None:
        """Count, on a bounded DataFrame of its rows, what is worth knowing of a stream or table when plans are chosen.

        Queries that are made from now on profit. A table that does not change can do without `df`.
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

    def register(self, *functions: UserAggregate | UserFunction) -> None:
        """Make functions and aggregates of your own known to queries."""
        for function in functions:
            register(self.catalog, function)

    # -- queries

    def table(self, name: str) -> Table:
        """A stream or table, to build a query on in Python."""
        return Table.of(self.catalog, name)

    def query(
        self,
        query: str | Table | Plan,
        name: str | None = None,
        strategy: str = "auto",
        shards: int | None = None,
        groups: int | None = None,
        settings: Settings | None = None,
        heartbeat: str | None = None,
        statistics: Statistics | None = None,
    ) -> SparkQuery:
        """A standing query, in CQL, built with `table(...)`, or compiled already; `start` lets it run.

        While streams are silent beyond their `idle`, time passes in steps of `heartbeat` ("1 second"); by default in
        steps of half the shortest `idle`. Without any `idle` nothing happens until rows come. The plan is chosen by
        what is known of the sources: `statistics`, and what was said when they were declared.
        """
        plan = self._plan(query)
        check(plan)
        asking = Asking(plan, _strategy(strategy), settings or Settings(), statistics or Statistics())
        streams = [self._streams[name] for name in _names(plan, StreamScan)]
        tables = [self._tables[name] for name in _names(plan, RelationScan)]
        if not streams and not any(table.frame.isStreaming for table in tables):
            raise PlanError("the query reads no stream, so nothing would ever make it run", hint="ask Spark directly")
        cores = self.spark.sparkContext.defaultParallelism
        asked = Asked(cores, shards or self.shards, groups or self.groups)
        every = interval([stream.time for stream in streams], heartbeat)
        return SparkQuery(self.spark, asking, streams, tables, asked, name, every)

    def flow(
        self,
        name: str,
        checkpoint: str | Path,
        streams: Sequence[str] | None = None,
        tables: Sequence[str] | None = None,
        keys: Mapping[str, str | Sequence[str]] | None = None,
        shards: int | None = None,
        sees_all: bool = True,
        heartbeat: str | None = None,
    ) -> SparkFlow:
        """Many standing queries that share one pass over streams and tables, and come and go while it runs.

        Streams are spread over shards by `keys` (by stream, the columns), else in equal shares: joins and groups by
        those columns are worked out side by side, other queries in one place that sees all tuples. Without `sees_all`
        such queries are refused, and tuples are spared the way there. A flow has a group for each shard, so it cannot
        grow.
        """
        asked_streams = [self._streams[self.catalog.get(s).name] for s in streams or self._streams]
        asked_tables = [self._tables[self.catalog.get(t).name] for t in tables or self._tables]
        many = shards or self.shards or self.spark.sparkContext.defaultParallelism
        every = interval([stream.time for stream in asked_streams], heartbeat)
        return SparkFlow(
            self.spark, name, self.catalog, asked_streams, asked_tables, keys or {}, checkpoint,
            Asked(many, shards, many), every, sees_all,
        )  # fmt: skip

    def _plan(self, query: str | Table | Plan) -> Plan:
        if isinstance(query, Plan):
            return query
        if isinstance(query, str):
            return compile_query(query, self.catalog)
        query.require(self.catalog)
        return query.plan


def _strategy(name: str) -> Strategy:
    usable = [strategy.value for strategy in Strategy if not strategy.is_queued]
    if name not in usable:
        raise PlanError(f"there is no strategy {name!r} on Spark", candidates=usable)
    return Strategy(name)


def _names(plan: Plan, kind: type[Any]) -> list[str]:
    return list(dict.fromkeys(leaf.source.name for leaf in plan.walk() if isinstance(leaf, kind)))
