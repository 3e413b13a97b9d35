"""From `--source` to DataFrames: registers the declared streams and tables of a script with an engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.catalog import Catalog, Relation, Stream, View
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.errors import DataError, NameNotFoundError, did_you_mean
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.distributed.ingest.quota import QUOTA
from thalweg.runtime.source import Source
from thalweg.runtime.spark import sources
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.spark_readers import FORMATS

TIME_COLUMN = "ts"  # of streams whose time is an integer
_OF_STREAMS: dict[str, Any] = {
    "idle": None,
    "ahead": "1 day",
    "keep_late": "whole",
    "side_output_rows": QUOTA.rows,
    "side_output_bytes": QUOTA.bytes,
}


def declare(engine: Engine, catalog: Catalog, plans: Sequence[Plan], given: Mapping[str, Source]) -> None:
    """Register the streams and tables that the queries read."""
    _check_names(catalog, given)
    leaves = {leaf.source.name: leaf.source for plan in plans for leaf in plan.walk() if isinstance(leaf, Leaf)}
    for entry in leaves.values():
        found = given.get(entry.name.casefold())
        if found is None:
            raise DataError(
                f"{entry.name} has no source", hint=f"add --source {entry.name}=KIND:WHERE, such as csv:DIRECTORY"
            )
        _declare_one(engine, entry, found)


def declare_given(engine: Engine, catalog: Catalog, given: Mapping[str, Source]) -> None:
    """Register everything that has a source, and all views, for queries that are added later."""
    _check_names(catalog, given)
    for name in catalog.names:
        entry = catalog.get(name)
        if isinstance(entry, View):
            engine.catalog.add(entry)
        elif name.casefold() in given:
            _declare_one(engine, entry, given[name.casefold()])


Leaf = StreamScan | RelationScan


def _check_names(catalog: Catalog, given: Mapping[str, Source]) -> None:
    for source in given.values():
        if source.name not in catalog:
            names = catalog.names
            raise NameNotFoundError(
                f"--source {source.text}: there is no stream or table called {source.name}",
                candidates=names,
                hint=did_you_mean(source.name, names),
            )


def _declare_one(engine: Engine, entry: Stream | Relation, source: Source) -> None:
    if isinstance(entry, Stream):
        _declare_stream(engine, entry, source)
    else:
        key = [entry.schema.names[i] for i in entry.key]
        engine.relation(entry.name, _table(engine.spark, entry, source), key=key or None, retroactive=entry.retroactive)


def _declare_stream(engine: Engine, stream: Stream, source: Source) -> None:
    timed = {key: source.options.get(key, default) for key, default in _OF_STREAMS.items()}
    if source.kind in ("generator", "replay") and "ahead" not in source.options:
        timed["ahead"] = None  # generated or recorded rows may be ahead of the system's clock
    options = {key: value for key, value in source.options.items() if key not in _OF_STREAMS}
    schema, timestamp = stream.schema, TIME_COLUMN
    if stream.timestamp is None:
        schema = Schema((Field(TIME_COLUMN, DataType.BIGINT), *schema))
    else:
        timestamp = schema.names[stream.timestamp]
    frame = _stream(engine.spark, source, schema, timestamp, options)
    engine.stream(stream.name, frame, timestamp=timestamp, lateness=stream.lateness or 0, **timed)


def _stream(
    spark: SparkSession, source: Source, schema: Schema, timestamp: str, options: dict[str, Any]
) -> DataFrame | sources.ArrowSource:
    match source.kind:
        case "generator":
            made = sources.generator(spark, source.where, **options)
            missing = [name for name in schema.names if name not in made.schema.names]
            if missing:
                raise DataError(
                    f"the generator {source.where} has no column {missing[0]}, which {source.name} declares",
                    candidates=made.schema.names,
                )
            return made.choose(schema.names)
        case "socket":
            host, _, port = source.where.rpartition(":")
            if not port.isdecimal():
                raise DataError(f"--source {source.text}: a socket is HOST:PORT")
            _check(source, options, sources.socket)
            return sources.socket(spark, host or "127.0.0.1", int(port), schema)
        case "replay":
            _check(source, options, sources.replay)
            return sources.replay(spark, source.where, timestamp, schema, **options)
    path, options = _directory(source.where, options)
    if source.kind == "parquet":
        _check(source, options, sources.parquet)
        return sources.parquet(spark, path, schema, **options)
    if source.kind in FORMATS:
        _check(source, options, sources.directory)
        return sources.directory(spark, path, schema, source.kind, **options)
    read = sources.zeek if source.kind == "zeek" else sources.lbl
    _check(source, options, read)
    return read(spark, path, schema, **options)


def _table(spark: SparkSession, relation: Relation, source: Source) -> DataFrame:
    """A table as it is when the query first starts."""
    if source.kind not in FORMATS:
        raise DataError(f"--source {source.text}: a table is read from files", candidates=FORMATS)
    reader = spark.read.schema(to_spark(relation.schema)).option("header", True).option("timeZone", "UTC")
    return reader.format(source.kind).load(source.where)


def _directory(where: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A single file is a directory of which only this file is read."""
    path = Path(where)
    if path.is_file():
        return str(path.parent), {"pattern": path.name, **options}
    if not path.is_dir() and "://" not in where:
        raise DataError(f"there is no directory {where}")
    return where, options


def _check(source: Source, options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Report options that the source lacks before Spark starts."""
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise NameNotFoundError(
                f"--source {source.text} has no option {option}", candidates=[*known, *_OF_STREAMS],
                hint=did_you_mean(option, known),
            )  # fmt: skip
