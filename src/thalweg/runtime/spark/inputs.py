"""Declared streams and tables: a DataFrame, its columns in our types, and how its time is read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, LongType, StructField

from thalweg.algebra.catalog import Relation, Stream
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.errors import DataError, NameNotFoundError, TypeMismatchError, did_you_mean
from thalweg.core.schema import Field, Schema
from thalweg.core.time import Clock, parse_duration
from thalweg.core.types import DataType
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.quota import QUOTA, Quota
from thalweg.runtime.distributed.ingest.routing import REASON, SIGN, TEXT, TIME
from thalweg.runtime.spark.schema import from_spark, to_spark
from thalweg.runtime.spark.sources.arrow import Arranged, ArrowSource, Load
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, BAD_ROW_REASON, BAD_ROW_TEXT

OPERATION, AT = "_op", "_at"

Late = Literal["whole", "needed"]


@dataclass(frozen=True)
class StreamInput:
    """A streaming DataFrame of rows with a column for their time, or of descriptions that rows are loaded from."""

    stream: Stream
    frame: DataFrame
    time_column: str
    time: InputTime
    ahead: int | None
    late: Late
    load: Load | None = None

    def known_as(self, statistics: SourceStatistics) -> StreamInput:
        """The same with other statistics."""
        return replace(self, stream=replace(self.stream, statistics=statistics))

    def loading(self, columns: tuple[int, ...]) -> Arranged:
        """The function that loads some columns of rows, if the DataFrame only describes them."""
        assert self.load is not None
        return Arranged(self.load, Schema(tuple(self.stream.schema[i] for i in columns)), self.time_column)

    def brought(self, needed: tuple[int, ...]) -> tuple[int, ...]:
        """The columns that leave the JVM: those that a query needs, or all, if late rows are kept whole."""
        return tuple(range(len(self.stream.schema))) if self.late == "whole" else needed

    def rows(self, needed: Collection[int]) -> DataFrame:
        """Some of the stream's columns in our types, the time, and the reason if the source says that a row is bad."""
        fields = to_spark(self.stream.schema).fields
        columns = [_cast(f).alias(f.name) for i, f in enumerate(fields) if i in needed]
        time = sf.col(_quoted(self.time_column))
        instant = time.cast("timestamp") if self.stream.timestamp is not None else time.cast("long")
        frame = self.frame if self.load is None else self._loaded(self.load)
        return frame.select(*columns, instant.alias(TIME), *_wrong(frame))

    def _loaded(self, load: Load) -> DataFrame:
        """A DataFrame of all rows, for a source whose own DataFrame only describes them."""
        schema = self.stream.schema
        if self.stream.timestamp is None:
            schema = Schema((*schema, Field(self.time_column, DataType.BIGINT)))
        return ArrowSource(self.frame, schema, load).dataframe()


@dataclass(frozen=True)
class TableInput:
    """A DataFrame of a table's rows, or, if it streams, of the rows that a table gains and loses."""

    relation: Relation
    frame: DataFrame
    broadcast: bool | None = None  # whether every group of keys gets a copy; None: if it is small

    def known_as(self, statistics: SourceStatistics) -> TableInput:
        """The same with other statistics."""
        return replace(self, relation=replace(self.relation, statistics=statistics))

    def rows(self) -> DataFrame:
        """The columns in our types, the time in ticks (NULL: at once), the sign, and the reason if a row is bad."""
        columns = [_cast(f).alias(f.name) for f in to_spark(self.relation.schema).fields]
        return self.frame.select(*columns, self._time(), self._sign(), *_wrong(self.frame))

    def whole(self) -> pa.Table:
        """All rows of a table that does not change: its columns in our types, time and sign."""
        rows = self.rows().drop(REASON, TEXT)
        names = [f"`{self.relation.schema.names[i]}`" for i in self.relation.key]
        if names and (twice := rows.groupBy(*names).count().where("count > 1").head()) is not None:
            raise DataError(
                f"{self.relation.name} has {twice['count']} rows with the key {tuple(twice)[:-1]}",
                hint="a primary key has one row; leave `key` out if there is none",
            )
        return rows.toArrow()

    @property
    def is_stamped(self) -> bool:
        """Whether its changes have timestamps."""
        return AT in self.frame.columns and not isinstance(self.frame.schema[AT].dataType, LongType | IntegerType)

    def _time(self) -> Column:
        if AT not in self.frame.columns:
            return sf.lit(None).cast("long").alias(TIME)
        at = sf.col(AT)
        return (sf.unix_micros(at.cast("timestamp")) if self.is_stamped else at.cast("long")).alias(TIME)

    def _sign(self) -> Column:
        if OPERATION not in self.frame.columns:
            return sf.lit(1).cast("long").alias(SIGN)
        operation = sf.coalesce(sf.col(OPERATION), sf.lit("+"))
        return sf.when(operation == "-", -1).when(operation == "+", 1).cast("long").alias(SIGN)


def stream_input(
    name: str,
    source: DataFrame | ArrowSource,
    timestamp: str,
    lateness: str | int | None,
    idle: str | None,
    ahead: str | None,
    keep_late: Late,
    quota: Quota = QUOTA,
) -> StreamInput:
    """The arguments of `Engine.stream`, checked."""
    if keep_late not in get_args(Late):
        raise DataError(f"late rows of {name} cannot be kept {keep_late!r}", candidates=get_args(Late))
    frame = source if isinstance(source, DataFrame) else source.described
    if not frame.isStreaming:
        raise DataError(
            f"{name} must be a streaming DataFrame, but this one is not",
            hint="spark.readStream gives one; a bounded DataFrame can be a relation, or be replayed as a stream with "
            "thalweg.runtime.spark.sources.replay",
        )
    if isinstance(source, DataFrame):
        whole = from_spark(frame.select(*(c for c in frame.columns if c not in BAD_ROW_COLUMNS.names)).schema)
    else:
        whole = source.schema
    place = next((i for i, n in enumerate(whole.names) if n.casefold() == timestamp.casefold()), None)
    if place is None:
        raise NameNotFoundError(
            f"{name} has no column {timestamp} to take the time from",
            candidates=whole.names,
            hint=did_you_mean(timestamp, whole.names),
        )
    stamped = whole[place].type is DataType.TIMESTAMP
    if not stamped and whole[place].type is not DataType.BIGINT:
        raise TypeMismatchError(
            f"the time of {name} is to come from {timestamp}, which is {whole[place].type}",
            candidates=("TIMESTAMP", "BIGINT"),
            hint="cast it to a timestamp, or to an integer for plain ticks",
        )
    clock = Clock.TIMESTAMPS if stamped else Clock.TICKS
    late = 0 if lateness is None else _extent(lateness, clock, "lateness")
    schema = whole if stamped else Schema(tuple(f for i, f in enumerate(whole) if i != place))
    stream = Stream(name, schema, place if stamped else None, late)
    silence = None if idle is None else _extent(idle, Clock.TIMESTAMPS, "idle")
    allowed = None if ahead is None or not stamped else _extent(ahead, Clock.TIMESTAMPS, "ahead")
    load = None if isinstance(source, DataFrame) else source.load
    return StreamInput(stream, frame, whole.names[place], InputTime(late, silence, quota), allowed, keep_late, load)


def table_input(
    name: str, frame: DataFrame, key: str | list[str] | None, retroactive: bool, broadcast: bool | None = None
) -> TableInput:
    """The arguments of `Engine.relation`, checked."""
    added = (OPERATION, AT, *BAD_ROW_COLUMNS.names)
    schema = from_spark(frame.select(*(c for c in frame.columns if c not in added)).schema)
    names = [key] if isinstance(key, str) else list(key or ())
    places = []
    for wanted in names:
        found = [i for i, n in enumerate(schema.names) if n.casefold() == wanted.casefold()]
        if not found:
            raise NameNotFoundError(
                f"{name} has no column {wanted} for its key", candidates=schema.names,
                hint=did_you_mean(wanted, schema.names),
            )  # fmt: skip
        places += found
    return TableInput(Relation(name, schema, tuple(places), retroactive), frame, broadcast)


def _extent(value: str | int, clock: Clock, what: str) -> int:
    """A length of time in ticks: a number of them, or a text such as "5 seconds"."""
    if isinstance(value, int):
        return value
    if clock is Clock.TICKS:
        raise DataError(f"{what} must be a number of ticks, not {value!r}", hint="the stream's time is an integer")
    return parse_duration(value)


def _cast(field: StructField) -> Column:
    """A column in the stream's type; NULL where a value cannot be cast."""
    return sf.col(_quoted(field.name)).try_cast(field.dataType)


def _wrong(frame: DataFrame) -> list[Column]:
    """The columns of a source that say why a row is bad, and what its text was."""
    renamed = ((BAD_ROW_REASON, REASON), (BAD_ROW_TEXT, TEXT))
    return [sf.col(a).cast("string").alias(b) for a, b in renamed if a in frame.columns]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
