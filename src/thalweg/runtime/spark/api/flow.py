"""`engine.flow(name)`: many standing queries in one of Spark's streaming queries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import column
from thalweg.algebra.plan import Plan
from thalweg.core.errors import CheckpointError, NameNotFoundError, PlanError
from thalweg.core.time import Clock
from thalweg.flows.command import Command, find
from thalweg.flows.query_info import FlowMetrics, QueryInfo
from thalweg.fluent import Table
from thalweg.kernel.operator import Key
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDefinition, FlowDesk
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.lease import HeldLease
from thalweg.runtime.distributed.checkpoint.report import flow_metrics, flow_now, flow_queries, suspended_queries
from thalweg.runtime.distributed.checkpoint.resume import resume
from thalweg.runtime.distributed.worker.flow_program import STAGES
from thalweg.runtime.interface import ExplainFormat, Time, TimeLike
from thalweg.runtime.spark.api.flow_run import SparkFlowQuery, SparkFlowRun
from thalweg.runtime.spark.api.start import leased, sinks_for, start_stream
from thalweg.runtime.spark.compile.flow_frame import Frames
from thalweg.runtime.spark.compile.query_frame import is_stamped
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.sinks import Retry, Sink
from thalweg.runtime.spark.tasks.flow_answers import PACKED_ANSWERS


class SparkFlow:
    """Made by `Engine.flow`. Queries may be added and dropped before it starts, while it runs, and after it stopped."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        catalog: Catalog,
        streams: Sequence[StreamInput],
        tables: Sequence[TableInput],
        keys: Mapping[str, str | Sequence[str]],
        checkpoint: str | Path,
        asked: Asked,
        every: int | None,
        sees_all: bool,
    ) -> None:
        self.name, self._every, self.checkpoint = name, every, Checkpoint.at(checkpoint)
        by_stream: dict[str, Key | None] = {s.stream.name: _key(s, keys.get(s.stream.name)) for s in streams}
        self._frames = Frames(spark, self.checkpoint, streams, tables, by_stream, sees_all)
        made_of = {**_described(by_stream, tables), "sees_all": sees_all}
        self._identity, self._asked = Identity(f"flow {name}", json.dumps(made_of), "flow"), asked
        if self.checkpoint.is_claimed:  # another driver may run it: only a start changes its layouts
            self.checkpoint.query_file.check(self._identity, self.checkpoint.folder)
            self.checkpoint.planned(asked)
        else:
            self.checkpoint.claim(self._identity, asked)
        definition = FlowDefinition(name, catalog, by_stream, [table.relation.name for table in tables], sees_all)
        self._desk = FlowDesk(self.checkpoint.folder, definition)
        self._desk.open()
        self._run: SparkFlowRun | None = None

    @property
    def clock(self) -> Clock:
        """Whether time is timestamps or ticks."""
        return Clock.TIMESTAMPS if is_stamped(self._frames.streams, self._frames.tables) else Clock.TICKS

    @property
    def now(self) -> Time | None:
        """The flow's clock (watermark); None before it has started."""
        return flow_now(self.checkpoint.reports())

    # -- commands

    def add(
        self,
        query: str | Table | Plan,
        *,
        name: str | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> str:
        """Add a query and return its id. It sees the tuples of the next batch and later ones.

        Added before the flow first starts, it sees all tuples. With `backfill` it starts from the tuples that the flow
        holds: those within reach of other queries' windows. `quotas` limit `results`, `results_per_second` and `state`
        (see `Quotas`): a query that exceeds a quota, or raises an error, is suspended.
        """
        return self.add_all([query], names=[name or ""], owner=owner, backfill=backfill, quotas=quotas)[0]

    def add_all(
        self,
        queries: Sequence[str | Table | Plan],
        *,
        names: Sequence[str] | None = None,
        owner: str | None = None,
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> list[str]:
        """Add several queries, which all begin with the same batch; their ids. If one is refused, none is added."""
        runs_with = self._run.functions if self._run is not None and self._run.is_active else None
        given = [query.plan if isinstance(query, Table) else query for query in queries]
        added = self._desk.add_all(given, names, owner or "", backfill, quotas, runs_with=runs_with)
        return [command.id for command in added]

    def take_over(self, commands: Iterable[Command]) -> None:
        """Add the queries of a local flow's catalogue, if this flow has had no command yet."""
        self._desk.take_over(commands)

    def drop(self, query: str) -> None:
        """End a query with the next batch; the others go on."""
        self._desk.drop(query)

    # -- questions

    def queries(self) -> list[QueryInfo]:
        """All queries of the flow, suspended ones too, in the order in which they were added."""
        return flow_queries(self._desk.commands.live(), self.checkpoint.reports())

    def get_query(self, query: str) -> SparkFlowQuery:
        """One query of the flow, to ask for its answers, changes and metrics."""
        live = self._desk.commands.live()
        command = live[find(live, query)]
        return SparkFlowQuery(self, command.standing(self._desk.definition.functions), command)

    def answer(self, query: str, at: TimeLike | None = None) -> DataFrame:
        """The answer of a query now, or at an instant since it was added."""
        return self.get_query(query).answer(at)

    def changes(self, query: str) -> DataFrame:
        """The rows that entered (+1) and left (-1) a query's answer so far: `_t`, `_sign` and the row."""
        return self.get_query(query).changes()

    def explain(self, query: str, *, format: ExplainFormat = "text") -> Any:
        """How a query runs, and where."""
        return self.get_query(query).explain(format=format)

    def metrics(self) -> FlowMetrics:
        """The tuples that the queries have received, their results and their costs; see docs/flows.md."""
        return flow_metrics(self.name, self._desk.commands.live(), self.checkpoint.reports())

    def __repr__(self) -> str:
        state = "running" if self._run is not None and self._run.is_active else "stopped"
        return f"<flow {self.name}: {state}, {len(self._desk.commands.live())} queries>"

    # -- running

    @property
    def started(self) -> SparkFlowRun:
        """The last run; an error if there is none."""
        if self._run is None:
            raise PlanError(f"the flow {self.name} does not run", hint="start() it")
        return self._run

    def start(
        self,
        *,
        sink: Sink | Sequence[Sink] | None = None,
        retry: Retry | None = None,
        trigger: Mapping[str, Any] | None = None,
        take_over: bool = False,
    ) -> SparkFlowRun:
        """Run the flow; a later start goes on where this run stopped.

        A sink gets the changes of all queries, packed in the columns `queries` and `changes` (see `rows_of`). Without a
        sink they are kept as Parquet in the checkpoint, from where `answer` reads them. `retry` says how often a sink
        that fails is tried again. A flow has one driver at a time; `take_over` is as in `SparkQuery.start`.
        """
        with leased(self.checkpoint, take_over) as lease:
            self._run = self._started_with(lease, sink, retry, trigger)
        return self._run

    def _started_with(
        self,
        lease: HeldLease,
        sink: Sink | Sequence[Sink] | None,
        retry: Retry | None,
        trigger: Mapping[str, Any] | None,
    ) -> SparkFlowRun:
        place, commands = self.checkpoint, self._desk.commands
        self._desk.check_functions()
        self._desk.open()  # functions may have been registered since
        begin = commands.begin(has_begun=place.spark.exists())
        resume(place, STAGES)
        commands.check(max((r.flow.last_command for r in place.reports() if r.flow is not None), default=0))
        layouts = place.claim(self._identity, self._asked)
        plan = self._frames.plan(layouts, begin, self._desk.definition.functions)
        sinks = sinks_for(sink, place, PACKED_ANSWERS, retry)
        compiled = self._frames.compile(plan, commands, self._every, sinks.take(), lease.fence)
        after = self._suspend_everywhere
        query = start_stream(compiled, sinks, place, lease, name=self.name, trigger=trigger, after_batch=after)
        return SparkFlowRun(self._frames.spark, query, place, compiled.spec, sinks, lease, plan.functions)

    def _suspend_everywhere(self, batch: int) -> None:
        """Suspend queries that failed in one shard in all shards: their answers would lack a part."""
        failed = suspended_queries(self.checkpoint.reports_after(batch))
        if failed:
            self._desk.commands.suspend(failed)


def _key(stream: StreamInput, given: str | Sequence[str] | None) -> Key | None:
    """The key that a stream is partitioned by; None for equal shares."""
    schema, names = stream.stream.schema, [given] if isinstance(given, str) else list(given or ())
    places = []
    for name in names:
        found = schema.find(name)
        if not found:
            raise NameNotFoundError(f"{stream.stream.name} has no column {name}", candidates=schema.names)
        places.append(found[0])
    return tuple(column(schema, i) for i in places) or None


def _described(keys: Mapping[str, Key | None], tables: Sequence[TableInput]) -> dict[str, Any]:
    """The streams with their keys, and the tables, as the identity of the flow in its checkpoint."""
    changing = [table.relation.name for table in tables if table.frame.isStreaming]
    if changing:
        raise CheckpointError(
            f"a flow on Spark reads a table once, when it first starts, but {changing[0]} is a streaming DataFrame",
            hint="run queries over it on their own: engine.query(...)",
        )
    spread = {name: [str(part) for part in key or ()] for name, key in keys.items()}
    return {"streams": spread, "tables": sorted(table.relation.name for table in tables)}
