"""A query as one streaming DataFrame: how its sources are read, and what is sent to its first stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.expressions import Column, Expression, columns_of, map_columns
from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.kernel.operator import Key
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.builder import PipelineTemplate
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.ingest.needed import needed_columns, selections
from thalweg.runtime.distributed.ingest.routing import Ports
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader
from thalweg.runtime.distributed.ingest.table_reader import TableReader
from thalweg.runtime.distributed.stages import BROADCAST, Cut, Placement
from thalweg.runtime.distributed.worker.cut_query import CutQuery
from thalweg.runtime.spark.compile.clock_frames import clock_frames
from thalweg.runtime.spark.compile.stage_frames import Compiled, compile_stages, table_file
from thalweg.runtime.spark.compile.stream_frames import StreamPlan, stream_frames
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.tasks.answer_rows import QueryAnswers
from thalweg.runtime.spark.tasks.deliver import Take
from thalweg.runtime.spark.tasks.messages import MESSAGES
from thalweg.runtime.spark.tasks.read import table_task
from thalweg.runtime.spark.tasks.stateless import StatelessQuery, is_stateless


@dataclass(frozen=True)
class Job:
    """A query that is to run: its operators, stages and layouts, its inputs, and its checkpoint."""

    blueprint: Blueprint
    cut: Cut
    layouts: Layouts
    streams: Sequence[StreamInput]
    tables: Sequence[TableInput]
    checkpoint: Checkpoint
    stamped: bool  # its times are timestamps
    every: int | None = None  # microseconds between two heartbeats
    fence: int = 0  # of the driver's lease

    @cached_property
    def ports(self) -> dict[str, Ports]:
        """By source, the ports by which it comes in."""
        return _ports(self.query.pipeline, self.cut)

    @cached_property
    def query(self) -> CutQuery:
        """The query as it is to run."""
        static = {t.relation.name: str(table_file(t, self.checkpoint)) for t in self.tables if not t.frame.isStreaming}
        times = {stream.stream.name: stream.time for stream in self.streams}
        keys = {t.relation.name: t.relation.key for t in self.tables if t.frame.isStreaming}
        query = CutQuery(self.blueprint, self.cut, self.layouts, times, self.stamped, static, keys)
        return replace(query, needed=columns_read(self.blueprint.plan, query.pipeline, self.cut))

    def stateless(self, take: Take | None) -> StatelessQuery | None:
        """The query for the tasks that read rows, if they can answer it."""
        if take is None or not is_stateless(self.blueprint, self.cut, self.query.inputs):
            return None
        return StatelessQuery(self.query.plan_of(0), take)


def compile_query(spark: SparkSession, job: Job, take: Take | None) -> Compiled:
    """Compile a query; if tasks are to `take` its rows, the DataFrame has notes instead."""
    query, checkpoint = job.query, job.checkpoint
    conditions = selections(job.blueprint.plan)
    plans = [_stream_plan(stream, query, job.ports, conditions) for stream in job.streams]
    sent = stream_frames(plans, str(checkpoint.folder), job.stateless(take))
    changing = [table for table in job.tables if table.frame.isStreaming]
    sent += [_table_frame(table, job.ports[table.relation.name], query, checkpoint) for table in changing]
    sent += clock_frames(spark, checkpoint, query.run_spec.shards, job.every)
    answers = QueryAnswers(job.blueprint.plan.schema, job.stamped)
    return compile_stages(sent, query.run_spec, checkpoint, answers, take, job.fence)


def is_stamped(streams: Sequence[StreamInput], tables: Sequence[TableInput]) -> bool:
    """Whether a query over these has timestamps, not ticks."""
    return any(stream.stream.timestamp is not None for stream in streams) or any(t.is_stamped for t in tables)


def columns_read(plan: Plan, pipeline: PipelineTemplate, parts: Cut) -> dict[str, tuple[int, ...]]:
    """By source, the columns that a plan needs or that rows are partitioned by."""
    keys = {
        name: {column for _, key in ports for part in _parts(key) for column in columns_of(part)}
        for name, ports in _ports(pipeline, parts).items()
    }
    return {name: tuple(sorted(columns | keys[name])) for name, columns in needed_columns(plan).items()}


def _parts(key: Placement) -> Key:
    """The expressions of a key."""
    return () if key is None or key is BROADCAST else key


def _ports(pipeline: PipelineTemplate, parts: Cut) -> dict[str, Ports]:
    """By source, the ports by which it comes in, and the keys it is partitioned by."""
    found: dict[str, Ports] = {}
    for i, port in enumerate(parts.ports):
        if port.origin is None:
            source = pipeline.nodes[port.node].source
            found[source] = (*found.get(source, ()), (i, port.key))
    return found


def _stream_plan(
    stream: StreamInput, query: CutQuery, ports: Mapping[str, Ports], conditions: Mapping[str, Expression]
) -> StreamPlan:
    """How a stream is read: the needed columns, and of the rows those that satisfy the selections."""
    name, schema, stamped = stream.stream.name, stream.stream.schema, stream.stream.timestamp is not None
    needed, condition, layouts = query.needed[name], conditions.get(name), query.layouts
    places = {column: place for place, column in enumerate(needed)}
    keys = tuple((port, _renumbered(key, places)) for port, key in ports[name])
    test = None if condition is None else _moved(condition, places)
    read = Schema(tuple(schema[i] for i in needed))
    narrow, wide = StreamReader(name, read, keys, layouts, stamped, stream.ahead, condition=test), None
    if stream.late == "whole" and len(needed) < len(schema):
        wide = StreamReader(name, schema, keys, layouts, stamped, stream.ahead, needed, test)
    return StreamPlan(stream, needed, narrow, wide)


def _renumbered(key: Placement, places: dict[int, int]) -> Placement:
    """A key over the columns that are read."""
    if key is None or key is BROADCAST:
        return key
    return tuple(_moved(part, places) for part in key)


def _moved(expression: Expression, places: dict[int, int]) -> Expression:
    return map_columns(expression, lambda c: Column(places[c.index], c.type, c.name))


def _table_frame(table: TableInput, ports: Ports, query: CutQuery, checkpoint: Checkpoint) -> DataFrame:
    relation = table.relation
    reader = TableReader(relation.name, relation.schema, ports, query.layouts, relation.key)
    return table.rows().mapInArrow(table_task(reader, str(checkpoint.folder)), MESSAGES)
