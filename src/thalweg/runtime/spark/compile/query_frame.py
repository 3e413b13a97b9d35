"""A query as one streaming DataFrame: sources, exchange, stage, exchange, stage ... all in the same micro-batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.algebra.expressions import Column, Expression, columns_of, map_columns
from thalweg.algebra.plan import Plan
from thalweg.core.schema import Schema
from thalweg.kernel.operator import Key
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.optimizer.optimize import Optimized
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import COMMAND
from thalweg.runtime.distributed.ingest.needed_columns import needed_columns
from thalweg.runtime.distributed.ingest.routing import Ports
from thalweg.runtime.distributed.ingest.selections import selections
from thalweg.runtime.distributed.ingest.stream_reader import Reading
from thalweg.runtime.distributed.ingest.table_reader import TableReading, whole_table
from thalweg.runtime.distributed.stages import EVERYWHERE, Cut, Placement
from thalweg.runtime.distributed.worker.query_spec import QuerySpec
from thalweg.runtime.spark.api.inputs import StreamInput, TableInput
from thalweg.runtime.spark.compile.heartbeat import heartbeat
from thalweg.runtime.spark.compile.stream_frames import Read, read_streams
from thalweg.runtime.spark.tasks.answer_rows import answer_type
from thalweg.runtime.spark.tasks.deliver import NOTES, Take
from thalweg.runtime.spark.tasks.messages import PARCELS, for_every_shard
from thalweg.runtime.spark.tasks.read import reading_task
from thalweg.runtime.spark.tasks.stage import StageTask
from thalweg.runtime.spark.tasks.stateless import AtOnce


@dataclass(frozen=True)
class Compiled:
    """The answer's changes (or notes about them) as a streaming DataFrame, what tasks know, how the plan was chosen."""

    frame: DataFrame
    spec: QuerySpec
    optimized: Optimized | None = None


@dataclass(frozen=True)
class Job:
    """A query that is to run: how it is built, cut and laid out, what it reads, and the checkpoint that is its own."""

    blueprint: Blueprint
    cut: Cut
    layouts: Layouts
    streams: Sequence[StreamInput]
    tables: Sequence[TableInput]
    checkpoint: Checkpoint
    stamped: bool  # its times are timestamps
    every: int | None = None  # the step of its heartbeat

    @cached_property
    def pipeline(self) -> Pipeline:
        """To ask about; tasks build their own."""
        return self.blueprint.build()

    @cached_property
    def ports(self) -> dict[str, Ports]:
        """By source, the ports through which it comes in."""
        return _ports(self.pipeline, self.cut)

    @cached_property
    def spec(self) -> QuerySpec:
        """What its tasks know."""
        static = {t.relation.name: str(held(t, self.checkpoint)) for t in self.tables if not t.frame.isStreaming}
        times = {stream.stream.name: stream.time for stream in self.streams}
        keys = {t.relation.name: t.relation.key for t in self.tables if t.frame.isStreaming}
        needed = columns_read(self.blueprint.plan, self.pipeline, self.cut)
        return QuerySpec(self.blueprint, self.cut, self.layouts, times, self.stamped, static, keys, needed)

    def at_once(self, take: Take | None) -> AtOnce | None:
        """What answers rows where they are read, if that can be done."""
        if take is None or not AtOnce.is_possible(self.blueprint, self.cut, self.spec.inputs):
            return None
        return AtOnce(self.spec, take)


def compile_stages(spark: SparkSession, job: Job, take: Take | None) -> Compiled:
    """The streaming DataFrame of a query; if the tasks are to `take` its rows, it has notes instead of them."""
    job.checkpoint.control.mkdir(parents=True, exist_ok=True)
    spec, folder = job.spec, str(job.checkpoint.folder)
    parcels = reduce(DataFrame.union, _sent(spark, job, take))
    for stage in range(spec.stages):
        task = StageTask(spec, stage, folder, take)
        given = answer_type(job.blueprint.plan.schema, job.stamped) if take is None else NOTES
        schema = given if task.is_last else PARCELS
        shard = sf.col("group") % spec.shards
        parcels = parcels.repartitionById(spec.shards, shard).mapInArrow(task.task(), schema)
    return Compiled(parcels, spec)


def _sent(spark: SparkSession, job: Job, take: Take | None) -> list[DataFrame]:
    """What comes into the first stage: of streams, of tables, and from those who tell the time."""
    conditions = selections(job.blueprint.plan)
    read = [_read(stream, job.spec, job.ports, conditions) for stream in job.streams]
    sent = read_streams(read, str(job.checkpoint.folder), job.at_once(take))
    changing = [table for table in job.tables if table.frame.isStreaming]
    sent += [_read_table(table, job.ports[table.relation.name], job.spec, job.checkpoint) for table in changing]
    sent.append(control(spark, job.checkpoint, job.spec.shards))
    beat = heartbeat(spark, job.checkpoint, job.spec.shards, job.every)
    return sent if beat is None else [*sent, beat]


def is_stamped(streams: Sequence[StreamInput], tables: Sequence[TableInput]) -> bool:
    """Whether a query over these has timestamps, not ticks."""
    return any(stream.stream.timestamp is not None for stream in streams) or any(t.is_stamped for t in tables)


def columns_read(plan: Plan, pipeline: Pipeline, parts: Cut) -> dict[str, tuple[int, ...]]:
    """By source, the columns that a plan needs, and those that rows are spread by, perhaps needed for nothing else."""
    keys = {
        name: {column for _, key in ports for part in _parts(key) for column in columns_of(part)}
        for name, ports in _ports(pipeline, parts).items()
    }
    return {name: tuple(sorted(columns | keys[name])) for name, columns in needed_columns(plan).items()}


def _parts(key: Placement) -> Key:
    """What a key computes."""
    return () if key is None or key is EVERYWHERE else key


def _ports(pipeline: Pipeline, parts: Cut) -> dict[str, Ports]:
    """By source, the ports through which it comes in, and the keys it is spread by."""
    found: dict[str, Ports] = {}
    for i, port in enumerate(parts.ports):
        if port.origin is None:
            source = pipeline.nodes[port.node].source
            found[source] = (*found.get(source, ()), (i, port.key))
    return found


def _read(
    stream: StreamInput, spec: QuerySpec, ports: Mapping[str, Ports], conditions: Mapping[str, Expression]
) -> Read:
    """How a stream is read: the columns that are needed, and the rows that matter."""
    name, schema, stamped = stream.stream.name, stream.stream.schema, stream.stream.timestamp is not None
    needed, condition, layouts = spec.needed[name], conditions.get(name), spec.layouts
    places = {column: place for place, column in enumerate(needed)}
    keys = tuple((port, _renumbered(key, places)) for port, key in ports[name])
    test = None if condition is None else _moved(condition, places)
    read = Schema(tuple(schema[i] for i in needed))
    few, whole = Reading(name, read, keys, layouts, stamped, stream.ahead, condition=test), None
    if stream.late == "whole" and len(needed) < len(schema):
        whole = Reading(name, schema, keys, layouts, stamped, stream.ahead, needed, test)
    return Read(stream, needed, few, whole)


def _renumbered(key: Placement, places: dict[int, int]) -> Placement:
    """A key over the columns that are read."""
    if key is None or key is EVERYWHERE:
        return key
    return tuple(_moved(part, places) for part in key)


def _moved(expression: Expression, places: dict[int, int]) -> Expression:
    return map_columns(expression, lambda c: Column(places[c.index], c.type, c.name))


def _read_table(table: TableInput, ports: Ports, spec: QuerySpec, checkpoint: Checkpoint) -> DataFrame:
    relation = table.relation
    reading = TableReading(relation.name, relation.schema, ports, spec.layouts, relation.key)
    return table.rows().mapInArrow(reading_task(reading, str(checkpoint.folder)), PARCELS)


def control(spark: SparkSession, checkpoint: Checkpoint, shards: int) -> DataFrame:
    """Commands are files in a folder, so that Spark remembers which batch has seen which."""
    rows = spark.readStream.schema("clock long").json(str(checkpoint.control))
    return for_every_shard(rows, COMMAND, sf.col("clock"), shards)


def held(table: TableInput, checkpoint: Checkpoint) -> Path:
    """Where a table lies as it was when the query first started: tasks are told the place, not the rows."""
    path = checkpoint.tables / f"{table.relation.name}.arrow"
    if not path.exists():
        replace_file(path, pack(whole_table(table.whole())))
    return path
