"""Streams whose rows never pass through the JVM: Spark assigns files or ranges to tasks, and the tasks read the rows.

Spark converts the rows of a DataFrame to Arrow one value at a time, and that is most of the cost of a query over a
DataFrame. Here the DataFrame holds only descriptions (files, ranges of rows), a few for each micro-batch, and the task
that sends rows to their shards loads them as Arrow. Spark's log of offsets still records what each batch has read.
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
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS


class Load(Protocol):
    """Loads the rows of some descriptions; it runs in the workers, so it must be picklable."""

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """The columns named, in the types of `to_arrow`; then BAD_ROW_COLUMNS, if rows of this source can be bad."""


@dataclass(frozen=True)
class ArrowSource:
    """A stream for `Engine.stream`: a streaming DataFrame of descriptions, and the function that loads their rows."""

    described: DataFrame
    schema: Schema
    load: Load

    def choose(self, names: Sequence[str]) -> ArrowSource:
        """The same stream with only these columns."""
        return replace(self, schema=Schema(tuple(self.schema[self.schema.find(name)[0]] for name in names)))

    def dataframe(self) -> DataFrame:
        """The rows, with BAD_ROW_COLUMNS, as a streaming DataFrame for other uses in Spark."""
        load, schema = self.load, self.schema

        def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            whole = to_arrow(schema + BAD_ROW_COLUMNS)
            for batch in batches:
                table = load(batch, schema.names)
                for name in BAD_ROW_COLUMNS.names[table.num_columns - len(schema) :]:
                    table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
                yield from table.cast(whole).to_batches()

        return self.described.mapInArrow(rows, to_spark(schema + BAD_ROW_COLUMNS))


@dataclass(frozen=True)
class Arranged:
    """Loads descriptions as a reading task wants them: the columns that a query needs, then TIME, TEXT and REASON."""

    load: Load
    needed: Schema
    time: str

    def __call__(self, described: Iterable[pa.RecordBatch]) -> pa.Table:
        """The rows of all these descriptions, as one table."""
        names = [*self.needed.names, *([] if self.time in self.needed.names else [self.time])]
        parts = [self._arranged(self.load(batch, names)) for batch in described if batch.num_rows]
        return pa.concat_tables(parts, promote_options="default")

    def _arranged(self, loaded: pa.Table) -> pa.Table:
        columns = {f.name: _plain(loaded.column(f.name), f.type) for f in self.needed}
        columns[TIME] = loaded.column(self.time)
        for theirs, ours in zip(BAD_ROW_COLUMNS.names, (TEXT, REASON), strict=True):
            if theirs in loaded.column_names:
                columns[ours] = loaded.column(theirs)
        return pa.table(columns)


def _plain(column: pa.ChunkedArray, type_: DataType) -> pa.ChunkedArray:
    return column.cast(pa.timestamp("us", "UTC")) if type_ is DataType.TIMESTAMP else column
