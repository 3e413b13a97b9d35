"""Streams whose rows never pass through the JVM: Spark deals out what to read, the task that spreads rows reads them.

A DataFrame's rows are written as Arrow for Python one value at a time, which is most of what a query over a DataFrame
costs. Here a DataFrame holds only descriptions (files, ranges of rows), a few per micro-batch, so that Spark's log of
offsets still says which batch has seen what; the rows are made from them where they are first needed, as Arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.distributed.ingest.routing import REASON, TEXT, TIME
from thalweg.runtime.spark.schema import to_arrow, to_spark
from thalweg.runtime.spark.sources.aside import ASIDE


class Load(Protocol):
    """Makes rows from descriptions; it goes to the workers, so it must be picklable."""

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """Some columns in the types of `to_arrow`, then perhaps those of ASIDE for rows that could not be read."""


@dataclass(frozen=True)
class ArrowSource:
    """A stream for `Engine.stream`, which takes it like a streaming DataFrame."""

    described: DataFrame
    schema: Schema
    load: Load

    def choose(self, names: Sequence[str]) -> ArrowSource:
        """Some of the columns."""
        return replace(self, schema=Schema(tuple(self.schema[self.schema.find(name)[0]] for name in names)))

    def dataframe(self) -> DataFrame:
        """The rows as a streaming DataFrame, with the columns of ASIDE, for whatever else Spark can do with them."""
        load, schema = self.load, self.schema

        def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            whole = to_arrow(schema + ASIDE)
            for batch in batches:
                table = load(batch, schema.names)
                for name in ASIDE.names[table.num_columns - len(schema) :]:
                    table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
                yield from table.cast(whole).to_batches()

        return self.described.mapInArrow(rows, to_spark(schema + ASIDE))


@dataclass(frozen=True)
class Arranged:
    """Descriptions as the rows that a reading task wants: the columns that a query needs, TIME, REASON and TEXT."""

    load: Load
    needed: Schema
    time: str

    def __call__(self, described: Iterable[pa.RecordBatch]) -> pa.Table:
        """All rows of some batches of descriptions."""
        names = [*self.needed.names, *([] if self.time in self.needed.names else [self.time])]
        parts = [self._arranged(self.load(batch, names)) for batch in described if batch.num_rows]
        return pa.concat_tables(parts, promote_options="default")

    def _arranged(self, loaded: pa.Table) -> pa.Table:
        columns = {f.name: _plain(loaded.column(f.name), f.type) for f in self.needed}
        columns[TIME] = loaded.column(self.time)
        for theirs, ours in zip(ASIDE.names, (TEXT, REASON), strict=True):
            if theirs in loaded.column_names:
                columns[ours] = loaded.column(theirs)
        return pa.table(columns)


def _plain(column: pa.ChunkedArray, type_: DataType) -> pa.ChunkedArray:
    return column.cast(pa.timestamp("us", "UTC")) if type_ is DataType.TIMESTAMP else column
