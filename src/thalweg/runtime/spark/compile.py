"""A query as one streaming DataFrame: sources, exchange, stage, exchange, stage ... all in the same micro-batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ByteType, LongType, StructField, StructType, TimestampType

from thalweg.algebra.expressions import Column, Expression, columns_of, map_columns
from thalweg.algebra.plan import Plan
from thalweg.core.schema import Field, Schema
from thalweg.operators.base import Key
from thalweg.optimizer.optimize import Optimized
from thalweg.planner.blueprint import Blueprint
from thalweg.planner.needed import needed_columns
from thalweg.planner.pipeline import Pipeline
from thalweg.planner.selected import selections
from thalweg.planner.shards import EVERYWHERE, Cut, Placement
from thalweg.runtime.shards.codec import pack
from thalweg.runtime.shards.files import replace_file
from thalweg.runtime.shards.layouts import Layouts
from thalweg.runtime.shards.parcel import COMMAND
from thalweg.runtime.shards.reading import Reading
from thalweg.runtime.shards.sourced import Ports
from thalweg.runtime.shards.spec import QuerySpec
from thalweg.runtime.shards.table_reading import TableReading, whole_table
from thalweg.runtime.spark.answer import EXP, SIGN, TS, unique_names
from thalweg.runtime.spark.at_once import AtOnce
from thalweg.runtime.spark.checkpoint import Checkpoint
from thalweg.runtime.spark.heartbeat import heartbeat
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.loading import Read, read_streams
from thalweg.runtime.spark.parcels import PARCELS, for_every_shard
from thalweg.runtime.spark.reading import reading_task
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.stage import StageTask
from thalweg.runtime.spark.taking import NOTES, Take


@dataclass(frozen=True)
class Compiled:
    """The answer's changes (or notes about them) as a streaming DataFrame, what tasks know, how the plan was chosen."""

    frame: DataFrame
    spec: QuerySpec
    optimized: Optimized | None = None


def compile_stages(
    spark: SparkSession,
    blueprint: Blueprint,
    parts: Cut,
    layouts: Layouts,
    streams: Sequence[StreamInput],
    tables: Sequence[TableInput],
    every: int | None,
    checkpoint: Checkpoint,
    stamped: bool,
    take: Take | None,
) -> Compiled:
    """The streaming DataFrame of a query whose checkpoint this is. `every` is the step of its heartbeat.

    Its times are timestamps if it is `stamped`. If the tasks are to `take` the rows, it has notes instead of them.
    """
    pipeline = blueprint.build()
    checkpoint.control.mkdir(parents=True, exist_ok=True)
    ports = _ports(pipeline, parts)
    static = {t.relation.name: str(held(t, checkpoint)) for t in tables if not t.frame.isStreaming}
    times = {stream.stream.name: stream.time for stream in streams}
    keys = {t.relation.name: t.relation.key for t in tables if t.frame.isStreaming}
    needed = columns_read(blueprint.plan, pipeline, parts)
    spec = QuerySpec(blueprint, parts, layouts, times, stamped, static, keys, needed)
    conditions = selections(blueprint.plan)
    read = [_read(stream, spec, ports, conditions) for stream in streams]
    possible = take is not None and AtOnce.is_possible(blueprint, parts, times)
    at_once = AtOnce(spec, take) if take is not None and possible else None
    sent = read_streams(read, str(checkpoint.folder), at_once)
    sent += [_read_table(t, ports[t.relation.name], spec, checkpoint) for t in tables if t.frame.isStreaming]
    sent.append(control(spark, checkpoint, layouts.last.shards))
    if (beat := heartbeat(spark, checkpoint, layouts.last.shards, every)) is not None:
        sent.append(beat)
    parcels = reduce(DataFrame.union, sent)
    for stage in range(spec.stages):
        task = StageTask(spec, stage, str(checkpoint.folder), take)
        given = answer_type(blueprint.plan.schema, stamped) if take is None else NOTES
        schema = given if task.is_last else PARCELS
        shard = sf.col("group") % layouts.last.shards
        parcels = parcels.repartitionById(layouts.last.shards, shard).mapInArrow(task.task(), schema)
    return Compiled(parcels, spec)


def is_stamped(streams: Sequence[StreamInput], tables: Sequence[TableInput]) -> bool:
    """Whether a query over these has timestamps, not ticks."""
    return any(stream.stream.timestamp is not None for stream in streams) or any(t.is_stamped for t in tables)


def answer_type(schema: Schema, stamped: bool) -> StructType:
    """The answer's columns, then from when, until when, and the sign."""
    named = Schema(tuple(Field(name, f.type) for name, f in zip(unique_names(schema), schema, strict=True)))
    time = TimestampType() if stamped else LongType()
    return StructType(
        [*to_spark(named).fields, StructField(TS, time), StructField(EXP, time), StructField(SIGN, ByteType())]
    )


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
