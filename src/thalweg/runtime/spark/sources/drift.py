"""JSON files that lack a declared column: a stream with one bad row for each such file.

It runs beside the stream of rows, over the same directory, and reads the first lines of each new file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from thalweg.core.schema import Schema
from thalweg.formats.lines import open_file
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, bad_batch

_FILE = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"  # the schema that Spark requires
LINES_TO_CHECK = 1_000  # of each JSON file, from its start


def drifted_files(spark: SparkSession, path: str, schema: Schema, pattern: str, files_per_batch: int) -> DataFrame:
    """A bad row for each JSON file of the directory that lacks a column of `schema`."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            paths = batch.column("path").to_pylist()
            absent = {path: _absent(schema, _json_names(local_path(path))) for path in paths}
            drifted = {path: columns for path, columns in absent.items() if columns}
            if drifted:
                reasons = [f"the file has no column {', '.join(columns)}" for columns in drifted.values()]
                yield bad_batch(schema, list(drifted), reasons)

    return files_of(spark, path, pattern, files_per_batch).mapInArrow(look, to_spark(schema + BAD_ROW_COLUMNS))


def files_of(spark: SparkSession, path: str, pattern: str, files_per_batch: int) -> DataFrame:
    """The paths of the files of a directory, each once, as they appear; the contents are not read."""
    files = spark.readStream.format("binaryFile").schema(_FILE).option("pathGlobFilter", pattern)
    return files.option("maxFilesPerTrigger", files_per_batch).load(path).select("path")


def local_path(path: str) -> str:
    """Spark's `file:/a%20b` as `/a b`; other addresses are returned unchanged."""
    return unquote(path.removeprefix("file:")).replace("///", "/") if path.startswith("file:") else path


def _absent(schema: Schema, names: set[str] | None) -> list[str]:
    return [] if names is None else [name for name in schema.names if name.casefold() not in names]


def _json_names(path: str) -> set[str] | None:
    """All names in the objects of the first lines, in lower case; None if no line is an object."""
    with open_file(path) as file:
        text = file.read(2**20)
    names: set[str] = set()
    found = False
    for line in islice(text.splitlines(), LINES_TO_CHECK):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found = True
            names |= {name.casefold() for name in value}
    return names if found else None
