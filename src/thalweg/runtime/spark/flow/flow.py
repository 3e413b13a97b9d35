"""`engine.flow(name)`: many standing queries in one streaming query of Spark's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import column
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.errors import CheckpointError, NameNotFoundError, PlanError, did_you_mean
from thalweg.core.time import BEGINNING
from thalweg.cql import compile_query
from thalweg.flows.pickles import pickle_with
from thalweg.flows.standing import Quotas, Standing
from thalweg.operators.base import Key
from thalweg.patterns import check
from thalweg.planner.identity import Identity
from thalweg.runtime.shards.flow_spec import Command, FlowPort, FlowSpec, needs_all
from thalweg.runtime.shards.parcel import FLOW
from thalweg.runtime.shards.reading import Reading
from thalweg.runtime.spark.checkpoint import Asked, Checkpoint
from thalweg.runtime.spark.compile import control, held
from thalweg.runtime.spark.finish import finishing
from thalweg.runtime.spark.flow.commands import Commands
from thalweg.runtime.spark.flow.run import FlowRun, OneOfFlow
from thalweg.runtime.spark.flow.stage import ANSWERS, FlowTask
from thalweg.runtime.spark.heartbeat import heartbeat
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.parcels import PARCELS, for_every_shard
from thalweg.runtime.spark.reading import loading_task, reading_task
from thalweg.runtime.spark.sinks import ParquetSink, Sink, Sinks

COMMANDS = "commands"  # a folder of the checkpoint


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
        pickle_with(cloudpickle.dumps)
        self._sees_all = sees_all
        self.name, self._spark, self._catalog, self._asked, self._every = name, spark, catalog, asked, every
        self._streams, self._tables = list(streams), list(tables)
        self.checkpoint = Checkpoint.at(checkpoint)
        self._keys: dict[str, Key | None] = {s.stream.name: self._key(s, keys.get(s.stream.name)) for s in streams}
        made_of = {**_described(self._keys, tables), "sees_all": sees_all}
        self._layouts = self.checkpoint.claim(Identity(f"flow {name}", json.dumps(made_of), "flow"), asked)
        self._commands = Commands(self.checkpoint.folder / COMMANDS)
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

        With `backfill` it starts from the tuples that the flow holds: those within reach of other queries' windows.
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
        first, asked = self._commands.next_number(), Quotas.read(dict(quotas or {}))
        commands = []
        for number, (query, name) in enumerate(zip(queries, names or [""] * len(queries), strict=True), start=first):
            plan = query if isinstance(query, Plan) else compile_query(query, self._catalog)
            text, id_ = query if isinstance(query, str) else "", f"q{number}"
            standing = Standing(id_, plan, text, name or id_, owner, backfill=backfill, quotas=asked)
            commands.append(Command(number, id_, standing, self._sees_all_for(plan)))
        self._commands.tell(*commands)
        return [command.id for command in commands]

    def _sees_all_for(self, plan: Plan) -> bool:
        """Whether a query must see all tuples in one place; an error if it cannot run here."""
        check(plan)
        self._check_sources(plan)
        whole = needs_all(plan, self._keys, {t.relation.name: t for t in self._tables})
        if whole and not self._sees_all:
            raise PlanError(
                "this query must see all its tuples in one place, and the flow has none that does",
                hint="spread streams by what the query joins or groups by (keys=), or make the flow with sees_all=True",
            )
        return whole

    def drop(self, query: str) -> None:
        """End a query, by its id or its name, with the next batch."""
        self._commands.tell(Command(self._commands.next_number(), self._standing(query).id, None))

    def queries(self) -> list[dict[str, Any]]:
        """The queries that stand, whether they run, wait for the next batch, or were suspended and why."""
        abouts = self._run.about() if self._run is not None and self.checkpoint.committed >= 0 else []
        obeyed = min((about["commands"] for about in abouts), default=-1)
        suspended = {query: why for about in abouts for query, why in about["suspended"].items()}
        found = []
        for command in self._commands.live().values():
            asked = command.adds
            assert asked is not None
            state = "suspended" if command.id in suspended else "running" if command.number <= obeyed else "waiting"
            counts: dict[str, float] = {}
            for about in abouts:
                for what, number in about["counts"].get(command.id, {}).items():
                    counts[what] = counts.get(what, 0) + number
            found.append(
                {
                    "id": command.id, "name": asked.name, "owner": asked.owner, "cql": asked.cql, "state": state,
                    "reason": suspended.get(command.id), "sees_all": command.whole, "quotas": asdict(asked.quotas),
                    **counts,
                }
            )  # fmt: skip
        return found

    def answers(self, query: str, at: Any = None) -> DataFrame:
        """The answer of a query now, or at an instant that has passed since it was added."""
        return self.of(query).answer(at)

    def of(self, query: str) -> OneOfFlow:
        """A query of the running flow, by its id or its name: `answer`, `changes`."""
        if self._run is None:
            raise PlanError(f"the flow {self.name} does not run", hint="start() it")
        found = self._standing(query)
        assert found.adds is not None
        return self._run.of(found.id, found.adds.plan.schema)

    def _standing(self, query: str) -> Command:
        """A query that stands, by its id, or by its name if no other has that."""
        live = self._commands.live()
        found = [live[query]] if query in live else [c for c in live.values() if c.adds and c.adds.name == query]
        if len(found) == 1:
            return found[0]
        known = [command.id for command in found] or list(live)
        names = [*live, *(command.adds.name for command in live.values() if command.adds)]
        what = f"{len(found)} queries called {query}" if found else f"no query {query}"
        hint = "give the id" if found else did_you_mean(query, names)
        raise NameNotFoundError(f"the flow {self.name} has {what}", candidates=known, hint=hint)

    def _suspend_everywhere(self, batch: int) -> None:
        """A query that has failed in one place is to run in none: its answer would be part of one."""
        failed = {q: why for m in self.checkpoint.manifests(batch, 0) for q, why in m["about"]["suspended"].items()}
        if failed:
            self._commands.suspend(failed)

    # -- running

    def start(self, sink: Sink | Sequence[Sink] | None = None, trigger: dict[str, Any] | None = None) -> FlowRun:
        """Let the flow run; the next start goes on where it was.

        A sink gets what all queries gain, packed: `queries` and `gained` (see `rows_of`). Without one it is kept as
        Parquet in the checkpoint, from where `answers` reads it.
        """
        spec = self._spec()
        place = self.checkpoint
        sinks = Sinks([sink] if isinstance(sink, Sink) else [*(sink or [])] or [ParquetSink(place.answers)])
        frame = self._frame(spec)
        finish = finishing(sinks, place, spec)

        def write(changes: DataFrame, batch: int) -> None:
            finish(changes, batch)
            self._suspend_everywhere(batch)

        writer = frame.writeStream.foreachBatch(write).queryName(self.name)
        writer = writer.option("checkpointLocation", str(place.spark)).outputMode("append")
        query = writer.trigger(**(trigger or {"processingTime": "0 seconds"})).start()
        self._run = FlowRun(self._spark, query, place, spec, sinks.sinks)
        return self._run

    def _spec(self) -> FlowSpec:
        ports = []
        for stream in self._streams:
            name, schema = stream.stream.name, stream.stream.schema
            ports.append(FlowPort(name, schema, self._keys[name]))
            ports += [FlowPort(name, schema, (), whole=True)] if self._sees_all else []
        stamped = any(stream.stream.timestamp is not None for stream in self._streams)
        return FlowSpec(
            tuple(ports),
            self._layouts,
            {stream.stream.name: stream.time for stream in self._streams},
            stamped,
            {t.relation.name: str(held(t, self.checkpoint)) for t in self._tables},
            {t.relation.name: t.relation.schema for t in self._tables},
        )

    def _frame(self, spec: FlowSpec) -> DataFrame:
        shards = spec.shards
        self.checkpoint.control.mkdir(parents=True, exist_ok=True)
        sent = [self._read(stream, spec) for stream in self._streams]
        told = self._spark.readStream.schema("command string").json(str(self._commands.folder))
        sent.append(for_every_shard(told, FLOW, sf.lit(BEGINNING), shards, sf.col("command").cast("binary")))
        sent.append(control(self._spark, self.checkpoint, shards))
        if (beat := heartbeat(self._spark, self.checkpoint, shards, self._every)) is not None:
            sent.append(beat)
        parcels = reduce(DataFrame.union, sent).repartitionById(shards, sf.col("group") % shards)
        return parcels.mapInArrow(FlowTask(spec, str(self.checkpoint.folder)).task(), ANSWERS)

    def _read(self, stream: StreamInput, spec: FlowSpec) -> DataFrame:
        name, schema, folder = stream.stream.name, stream.stream.schema, str(self.checkpoint.folder)
        ports = tuple((i, port.key) for i, port in enumerate(spec.ports) if port.source == name)
        stamped, every = stream.stream.timestamp is not None, tuple(range(len(schema)))
        reading = Reading(name, schema, ports, spec.layouts, stamped, stream.ahead)
        if stream.load is None:
            return stream.rows(stream.brought(every)).mapInArrow(reading_task(reading, folder), PARCELS)
        return stream.frame.mapInArrow(loading_task(reading, stream.loading(every), None, folder), PARCELS)

    # -- checking

    def _key(self, stream: StreamInput, given: str | Sequence[str] | None) -> Key | None:
        schema, names = stream.stream.schema, [given] if isinstance(given, str) else list(given or ())
        places = []
        for name in names:
            found = schema.find(name)
            if not found:
                raise NameNotFoundError(f"{stream.stream.name} has no column {name}", candidates=schema.names)
            places.append(found[0])
        return tuple(column(schema, i) for i in places) or None

    def _check_sources(self, plan: Plan) -> None:
        known = [s.stream.name for s in self._streams] + [t.relation.name for t in self._tables]
        read = {leaf.source.name for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan)}
        unknown = sorted(read - set(known))
        if unknown:
            raise PlanError(
                f"the flow {self.name} does not read {', '.join(unknown)}", candidates=known,
                hint="a flow's streams and tables are fixed when it is first made",
            )  # fmt: skip


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
