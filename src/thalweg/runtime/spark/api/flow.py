"""`engine.flow(name)`: many standing queries in one streaming query of Spark's."""

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
from thalweg.flows.command import Command, find
from thalweg.flows.standing import Quotas
from thalweg.kernel.operator import Key
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.flow_desk import FlowDefinition, FlowDesk
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.report import query_metrics, query_states, suspended_queries
from thalweg.runtime.spark.api.flow_run import FlowRun, OneOfFlow
from thalweg.runtime.spark.api.inputs import StreamInput, TableInput
from thalweg.runtime.spark.compile.flow_frame import Frames
from thalweg.runtime.spark.compile.stage_frames import write_batches
from thalweg.runtime.spark.sinks import ParquetSink, Sink, Sinks
from thalweg.runtime.spark.tasks.flow_answers import PACKED_ANSWERS


class SparkFlow:
    """Made by `Engine.flow`. Queries may be added and dropped before it starts, while it runs and while it rests."""

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
        self._layouts = self.checkpoint.claim(Identity(f"flow {name}", json.dumps(made_of), "flow"), asked)
        definition = FlowDefinition(name, catalog, by_stream, [table.relation.name for table in tables], sees_all)
        self._desk = FlowDesk(self.checkpoint.folder, definition)
        self._desk.open()
        self._run: FlowRun | None = None

    # -- queries

    def add(
        self,
        cql: str | Plan,
        name: str = "",
        owner: str = "",
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> str:
        """Let a query stand from the next batch on; its id. It sees tuples that come from then on.

        Before the flow first starts: from the first batch on. With `backfill` it starts from the tuples that the flow
        holds: those within reach of other queries' windows.
        """
        return self.add_all([cql], [name], owner, backfill, quotas)[0]

    def add_all(
        self,
        queries: Sequence[str | Plan],
        names: Sequence[str] | None = None,
        owner: str = "",
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
    ) -> list[str]:
        """The same for many at once: all of them begin with the same batch."""
        runs_with = self._run.functions if self._run is not None and self._run.is_active else None
        added = self._desk.add_all(queries, names, owner, backfill, quotas, runs_with=runs_with)
        return [command.id for command in added]

    def take_over(self, commands: Iterable[Command]) -> None:
        """Let the queries of a session's catalogue stand here, unless this flow was ever told anything."""
        self._desk.take_over(commands)

    def drop(self, query: str) -> None:
        """End a query, by its id or name, with the next batch."""
        self._desk.drop(query)

    def queries(self) -> list[dict[str, Any]]:
        """The queries that stand, whether they run, wait for the next batch, or were suspended and why."""
        live, reports = self._desk.commands.live(), self.checkpoint.reports()
        states, counted = query_states(live, reports), query_metrics(live, reports)
        return [
            {
                "id": query, "name": command.name, "owner": command.owner, "cql": command.cql,
                "state": states[query][0], "reason": states[query][1], "sees_all": command.whole,
                "quotas": Quotas.read(dict(command.quotas)).given(), **counted[query].shown(),
            }
            for query, command in live.items()
        ]  # fmt: skip

    def answers(self, query: str, at: Any = None) -> DataFrame:
        """The answer of a query now, or at an instant that has passed since it was added."""
        return self.of(query).answer(at)

    def of(self, query: str) -> OneOfFlow:
        """A query of the running flow, by its id or name: `answer`, `changes`."""
        if self._run is None:
            raise PlanError(f"the flow {self.name} does not run", hint="start() it")
        live = self._desk.commands.live()
        found = find(live, query)
        return self._run.of(found, live[found].standing(self._desk.definition.functions).plan.schema)

    # -- running

    def start(self, sink: Sink | Sequence[Sink] | None = None, trigger: dict[str, Any] | None = None) -> FlowRun:
        """Let the flow run; the next start goes on where it was.

        A sink gets what all queries gain, packed: `queries` and `changes` (see `rows_of`). Without one it is kept as
        Parquet in the checkpoint, from where `answers` reads it.
        """
        place, commands = self.checkpoint, self._desk.commands
        self._desk.check_functions()
        self._desk.open()  # functions may have been registered since
        begin = commands.begin(has_begun=place.spark.exists())
        spec = self._frames.spec(self._layouts, begin, self._desk.definition.functions)
        given = [sink] if isinstance(sink, Sink) else [*(sink or [])]
        sinks = Sinks(given or [ParquetSink(place.answers)], PACKED_ANSWERS)
        frame = self._frames.frame(spec, commands, self._every, sinks.take())
        write_batch = write_batches(sinks, place, spec.stages)

        def write(handed: DataFrame, batch: int) -> None:
            write_batch(handed, batch)
            self._suspend_everywhere(batch)

        writer = frame.writeStream.foreachBatch(write).queryName(self.name)
        writer = writer.option("checkpointLocation", str(place.spark)).outputMode("append")
        query = writer.trigger(**(trigger or {"processingTime": "0 seconds"})).start()
        self._run = FlowRun(self._frames.spark, query, place, spec, sinks.sinks)
        return self._run

    def _suspend_everywhere(self, batch: int) -> None:
        """A query that has failed in one place is to run in none: its answer would be part of one."""
        failed = suspended_queries(self.checkpoint.reports_after(batch))
        if failed:
            self._desk.commands.suspend(failed)


def _key(stream: StreamInput, given: str | Sequence[str] | None) -> Key | None:
    """The columns that a stream is spread by."""
    schema, names = stream.stream.schema, [given] if isinstance(given, str) else list(given or ())
    places = []
    for name in names:
        found = schema.find(name)
        if not found:
            raise NameNotFoundError(f"{stream.stream.name} has no column {name}", candidates=schema.names)
        places.append(found[0])
    return tuple(column(schema, i) for i in places) or None


def _described(keys: Mapping[str, Key | None], tables: Sequence[TableInput]) -> dict[str, Any]:
    """What a flow is made of, for its checkpoint."""
    changing = [table.relation.name for table in tables if table.frame.isStreaming]
    if changing:
        raise CheckpointError(
            f"a flow on Spark reads tables as they are when it begins, but {changing[0]} changes",
            hint="run queries over it on their own: engine.query(...)",
        )
    spread = {name: [str(part) for part in key or ()] for name, key in keys.items()}
    return {"streams": spread, "tables": sorted(table.relation.name for table in tables)}
