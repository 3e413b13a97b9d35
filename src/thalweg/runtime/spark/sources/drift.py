"""Files that lack a column: a stream with one row, put aside, for each.

It runs beside the stream of rows, over the same directory: a row per new file, whose head is looked into.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from thalweg.core.schema import Schema
from thalweg.formats.lines import file_system, open_file
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.aside import ASIDE, aside_batch

_FILE = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"  # as Spark wants it
LINES = 1_000  # of a JSON file are looked into


def drifted_files(
    spark: SparkSession, path: str, schema: Schema, format_: str, pattern: str, files_per_batch: int
) -> DataFrame:
    """A row for each file of the directory that lacks a column of `schema`."""
    names = _NAMES[format_]

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            paths = batch.column("path").to_pylist()
            absent = {path: _absent(schema, names(local_path(path))) for path in paths}
            drifted = {path: columns for path, columns in absent.items() if columns}
            if drifted:
                reasons = [f"the file has no column {', '.join(columns)}" for columns in drifted.values()]
                yield aside_batch(schema, list(drifted), reasons)

    files = spark.readStream.format("binaryFile").schema(_FILE).option("pathGlobFilter", pattern)
    files = files.option("maxFilesPerTrigger", files_per_batch)  # only `path` is used, so no content is read
    return files.load(path).select("path").mapInArrow(look, to_spark(schema + ASIDE))


def local_path(path: str) -> str:
    """Spark's `file:/a%20b` as `/a b`; other addresses stay."""
    return unquote(path.removeprefix("file:")).replace("///", "/") if path.startswith("file:") else path


def _absent(schema: Schema, names: set[str] | None) -> list[str]:
    return [] if names is None else [name for name in schema.names if name.casefold() not in names]


def _parquet_names(path: str) -> set[str] | None:
    system, inner = file_system(path)
    with system.open_input_file(inner) as file:
        return {name.casefold() for name in pq.ParquetFile(file).schema_arrow.names}


def _json_names(path: str) -> set[str] | None:
    """The names on the first lines, or None if no line there is an object."""
    with open_file(path) as file:
        text = file.read(2**20)
    names: set[str] = set()
    found = False
    for line in islice(text.splitlines(), LINES):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found = True
            names |= {name.casefold() for name in value}
    return names if found else None


_NAMES: dict[str, Callable[[str], set[str] | None]] = {"parquet": _parquet_names, "json": _json_names}
