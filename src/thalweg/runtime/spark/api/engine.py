"""`tw.Engine`: streams, tables and standing queries on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from thalweg.algebra.catalog import Relation, Stream
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.errors import PlanError
from thalweg.cql import compile_script, register
from thalweg.flows.query_info import QueryInfo
from thalweg.fluent import Table
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import check
from thalweg.runtime.distributed.checkpoint.folder import Asked
from thalweg.runtime.registry import QueryRegistry, name_all, plan_of, text_of
from thalweg.runtime.spark.api.declared_sources import DeclaredSources
from thalweg.runtime.spark.api.flow import SparkFlow
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.request import QueryRequest
from thalweg.runtime.spark.compile.heartbeat import interval


class Engine(DeclaredSources):
    """Standing queries over streaming DataFrames.

    `spark` is your session; if you give none, a local one is started. `shards` is the number of parts of a query's
    state, each for one task; a query that was stopped can go on in another number of shards. By default there is one
    for each core, or as many as the query's checkpoint has. `groups` is the greatest number of shards that a query can
    ever have, fixed at its first start; by default four times its first shards. A query can be given its own numbers.
    """

    def __init__(
        self, spark: SparkSession | None = None, *, shards: int | None = None, groups: int | None = None
    ) -> None:
        super().__init__(spark or local_spark())
        self.shards, self.groups = shards, groups
        self._queries: QueryRegistry[SparkQuery] = QueryRegistry()

    # -- queries

    def table(self, name: str) -> Table:
        """A stream, table or view, to build a query on in Python."""
        return Table.of(self.catalog, name)

    def register(self, *functions: UserAggregate | UserFunction | type) -> None:
        """Let queries call functions and aggregates of your own, made with `@function` and `@aggregate`."""
        for function in functions:
            register(self.catalog, function)

    def execute(
        self, cql: str, *, source: str = "query", strategy: str = "auto", settings: Settings | None = None
    ) -> list[SparkQuery]:
        """Run a script of views, REGISTER statements and queries over streams and tables that are declared already.

        `source` is the script's name in errors. Returns the queries, which `start` runs. A script with an error has no
        effect.
        """
        tried = self.catalog.copy()
        compiled = compile_script(cql, tried, source)
        created: list[Stream | Relation] = [*tried.streams, *tried.relations]
        for entry in created:
            if entry.name not in self.catalog:
                call = "stream" if isinstance(entry, Stream) else "relation"
                raise PlanError(
                    f"{source} creates {entry.name}, but on Spark a stream or table is a DataFrame",
                    hint=f"engine.{call}({entry.name!r}, df), and leave its CREATE statement out",
                )
        for query in compiled:
            check(query.plan)
            self._queries.free_name(query.name)
        names = name_all([query.name for query in compiled], self._queries.names)
        request = partial(QueryRequest, strategy=_strategy(strategy), settings=settings or Settings())
        made = [
            self._make(request(query.plan), name, "", query.name) for query, name in zip(compiled, names, strict=True)
        ]
        self.catalog.adopt(tried)
        return [self._queries.add(query) for query in made]

    def query(
        self,
        query: str | Table | Plan,
        *,
        name: str | None = None,
        strategy: str = "auto",
        settings: Settings | None = None,
        statistics: Statistics | None = None,
        shards: int | None = None,
        groups: int | None = None,
        heartbeat: str | None = None,
    ) -> SparkQuery:
        """A standing query: CQL, a table built with `table(...)`, or a plan. `start` runs it.

        The plan is chosen by `statistics`, and by those that were declared for the sources. While streams are silent
        for longer than their `idle`, time passes in steps of `heartbeat` ("1 second"); by default in steps of half the
        shortest `idle`. Without any `idle` time passes only with rows. The name of a query that does not run can be
        used again.
        """
        plan = plan_of(query, self.catalog)
        request = QueryRequest(plan, _strategy(strategy), settings or Settings(), statistics or Statistics())
        for other in self._queries:
            if name and other.name.casefold() == name.casefold() and not other.is_active:
                self._queries.drop(other)
        free = self._queries.free_name(name)
        return self._queries.add(self._make(request, free, text_of(query), name, shards, groups, heartbeat))

    def _make(
        self,
        request: QueryRequest,
        name: str,
        cql: str,
        spark_name: str | None,
        shards: int | None = None,
        groups: int | None = None,
        heartbeat: str | None = None,
    ) -> SparkQuery:
        streams = [self._streams[name] for name in _names(request.plan, StreamScan)]
        tables = [self._tables[name] for name in _names(request.plan, RelationScan)]
        if not streams and not any(table.frame.isStreaming for table in tables):
            raise PlanError(
                "the query reads no stream, so it would never run", hint="ask Spark directly: spark.sql(...)"
            )
        cores = self.spark.sparkContext.defaultParallelism
        asked = Asked(cores, shards or self.shards, groups or self.groups)
        every = interval([stream.time for stream in streams], heartbeat)
        return SparkQuery(self.spark, request, streams, tables, asked, name, cql, every, spark_name)

    def queries(self) -> list[QueryInfo]:
        """The queries that were made and not dropped, in order; a flow lists its own queries."""
        return [query.info for query in self._queries]

    def get_query(self, name: str) -> SparkQuery:
        """One of these queries."""
        return self._queries.get(name)

    def drop(self, query: SparkQuery | str) -> None:
        """End a query, or the query of that name, after the current batch; the others go on."""
        dropped = self._queries.drop(query)
        if dropped.run is not None:
            dropped.run.stop()

    def flow(
        self,
        name: str = "flow",
        *,
        checkpoint: str | Path | None = None,
        streams: Sequence[str] | None = None,
        tables: Sequence[str] | None = None,
        keys: Mapping[str, str | Sequence[str]] | None = None,
        shards: int | None = None,
        sees_all: bool = True,
        heartbeat: str | None = None,
    ) -> SparkFlow:
        """The flow of that name: standing queries that share one pass over streams and tables, and come and go.

        Streams are partitioned by `keys` (by stream, the columns), else in equal shares. Joins and groups by those
        columns run in all shards in parallel; other queries run in one group that sees all tuples. Without `sees_all`
        there is no such group, and such queries are refused. A flow has one group for each shard, so it cannot go on in
        more shards. Its queries and their state are in the `checkpoint`, a folder that all workers can reach.
        """
        if checkpoint is None:
            raise PlanError(
                f"the flow {name} needs a folder for its queries and their state",
                hint=f'engine.flow({name!r}, checkpoint="state/{name}")',
            )
        read_streams = [self._streams[self.catalog.get(s).name] for s in streams or self._streams]
        read_tables = [self._tables[self.catalog.get(t).name] for t in tables or self._tables]
        many = shards or self.shards or self.spark.sparkContext.defaultParallelism
        every = interval([stream.time for stream in read_streams], heartbeat)
        return SparkFlow(
            self.spark, name, self.catalog, read_streams, read_tables, keys or {}, checkpoint,
            Asked(many, shards, many), every, sees_all,
        )  # fmt: skip

    def __repr__(self) -> str:
        sources = f"{len(self._streams)} streams, {len(self._tables)} tables"
        return f"<engine on {self.spark.sparkContext.master}: {sources}, {len(self._queries)} queries>"


def _strategy(name: str) -> Strategy:
    usable = [strategy.value for strategy in Strategy if not strategy.is_queued]
    if name not in usable:
        raise PlanError(f"there is no strategy {name!r} on Spark", candidates=usable)
    return Strategy(name)


def _names(plan: Plan, kind: type[Any]) -> list[str]:
    return list(dict.fromkeys(leaf.source.name for leaf in plan.walk() if isinstance(leaf, kind)))
