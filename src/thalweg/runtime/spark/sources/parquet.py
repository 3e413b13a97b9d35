"""A directory of Parquet files: Arrow reads the columns that a query needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from thalweg.core.schema import Field, Schema
from thalweg.formats.lines import file_system
from thalweg.runtime.spark.schema import to_arrow
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.bad_rows import bad_batch
from thalweg.runtime.spark.sources.file_memory import REMEMBER
from thalweg.runtime.spark.sources.files import check_size, listed_files
from thalweg.runtime.spark.sources.log_rows import described_files


def parquet(
    spark: SparkSession,
    path: str | Path,
    schema: Schema,
    *,
    pattern: str = "*",
    files_per_batch: int = 1_000,
    remember_files: int = REMEMBER,
) -> ArrowSource:
    """The columns of `schema` from the files whose names match `pattern`, in the directory and in those below it.

    A file that lacks a column, has it in another type, or cannot be read adds a bad row; the columns that can be read
    are read. Timestamps without a time zone are UTC.
    """
    files = listed_files(
        spark, str(path), pattern=pattern, files_per_batch=files_per_batch, recursive=True, remember=remember_files
    )
    return ArrowSource(files, schema, ParquetFiles(schema, str(path)))


@dataclass(frozen=True)
class ParquetFiles:
    """Loads columns of Parquet files."""

    schema: Schema
    path: str

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """The rows of all files, and a bad row for each problem with a file."""
        wanted = Schema(tuple(self.schema[self.schema.find(name)[0]] for name in columns))
        parts: list[pa.Table] = []
        for name, size, notice in described_files(described):
            path = f"{self.path}/{name}"
            parts += self._read(path, size, wanted) if notice is None else [_bad_row(wanted, path, notice)]
        return pa.concat_tables(parts, promote_options="default")

    def _read(self, path: str, size: int, wanted: Schema) -> list[pa.Table]:
        check_size(path, size)
        system, inner = file_system(path)
        with system.open_input_file(inner) as opened:
            try:
                file = pq.ParquetFile(opened)
            except pa.ArrowInvalid as error:
                return [_bad_row(wanted, path, f"the file cannot be read: {error}")]
            there = {name.casefold(): name for name in file.schema_arrow.names}
            known = [f for f in self.schema if f.name.casefold() in there]
            absent = [f.name for f in self.schema if f.name.casefold() not in there]
            read = file.read([there[f.name.casefold()] for f in wanted if f in known])
        rows, wrong = _typed(read, wanted)
        problems = ([f"the file has no column {', '.join(absent)}"] if absent else []) + wrong
        return [rows, *(_bad_row(wanted, path, problem) for problem in problems)]


def _typed(read: pa.Table, wanted: Schema) -> tuple[pa.Table, list[str]]:
    """The wanted columns in our types, NULL where a column is missing or does not fit; and the reasons why not."""
    names = {name.casefold(): place for place, name in enumerate(read.column_names)}
    columns, wrong = [], []
    for field, arrow in zip(wanted, to_arrow(wanted), strict=True):
        place = names.get(field.name.casefold())
        column = None
        if place is not None:
            try:
                column = _cast(read.column(place), arrow.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                wrong.append(_does_not_fit(field, read.schema.field(place).type))
        columns.append(pa.nulls(read.num_rows, arrow.type) if column is None else column)
    return pa.Table.from_arrays(columns, schema=to_arrow(wanted)), wrong


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if column.type == wanted:
        return column
    if pa.types.is_timestamp(wanted) and pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(wanted)
    return pc.cast(column, wanted)


def _does_not_fit(field: Field, found: pa.DataType) -> str:
    return f"column {field.name} wants {field.type}, the file has {found}"


def _bad_row(wanted: Schema, path: str, reason: str) -> pa.Table:
    return pa.Table.from_batches([bad_batch(wanted, [path], [reason])])
