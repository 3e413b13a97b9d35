"""Directories of logs that Python parses: each new file is read once, in the batch after it appears.

The offset lists every file read so far, with its size. It grows with the directory, but so a file that is moved in late
with an old date is never missed. Files must be moved in whole: a file whose size has changed since is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.fs
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.formats import FORMATS
from thalweg.formats.lines import file_system
from thalweg.runtime.spark.schema import to_arrow
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, bad_batch, good_batches

Seen = dict[str, int]  # a file's name, and its size in bytes


def logs(
    spark: SparkSession,
    format_: str,
    path: str,
    schema: Schema,
    pattern: str,
    files_per_batch: int,
    partitions: int | None,
) -> ArrowSource:
    """A stream of the files in a directory whose names match `pattern`, read by `thalweg.formats`."""
    if files_per_batch < 1:
        raise DataError(f"files_per_batch wants 1 or more, got {files_per_batch}")
    _list(path, pattern)  # a missing directory raises here, not in a worker
    spec = {
        "path": path,
        "pattern": pattern,
        "files_per_batch": files_per_batch,
        "partitions": partitions or spark.sparkContext.defaultParallelism,
    }
    spark.dataSource.register(LogSource)
    files = spark.readStream.format(LogSource.name()).option("spec", json.dumps(spec)).load()
    return ArrowSource(files, schema, LogRows(schema, format_, path))


class LogSource(DataSource):
    """The Spark data source behind `logs`; the option `spec` holds its arguments."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_logs"

    def schema(self) -> str:
        """A row for each file: its name, and its size when it was listed."""
        return "name STRING, size LONG"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader that assigns files to tasks."""
        return LogReader(**json.loads(self.options["spec"]))


class Files(InputPartition):
    """Files for one task, with the size of each when it was listed."""

    def __init__(self, files: Seen) -> None:
        self.files = files


class LogReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Assigns files to batches and tasks, oldest first."""

    def __init__(self, path: str, pattern: str, files_per_batch: int, partitions: int) -> None:
        self._path, self._pattern = path, pattern
        self._files_per_batch, self._partitions = files_per_batch, partitions
        self._last: Seen | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name, like those below
        """No file has been read."""
        return {"files": {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """At most `files_per_batch` files."""
        return ReadMaxFiles(self._files_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read only the files that are there now."""
        self._last = _list(self._path, self._pattern)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The files read before, and those of the next batch."""
        seen: Seen = start["files"]
        there = _list(self._path, self._pattern) if self._last is None else self._last
        for name, size in there.items():
            if seen.get(name, size) != size:
                raise _changed(name, seen[name], size)
        new = [name for name in there if name not in seen]
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return {"files": {**seen, **{name: there[name] for name in new}}} if new else start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The new files, spread evenly over the tasks."""
        new = [(name, size) for name, size in end["files"].items() if name not in start["files"]]
        parts = min(len(new), self._partitions)
        return [Files(dict(new[i::parts])) for i in range(parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The files of a task, as rows of `LogSource.schema`."""
        assert isinstance(partition, Files)
        yield pa.record_batch({"name": list(partition.files), "size": list(partition.files.values())})


@dataclass(frozen=True)
class LogRows:
    """Loads the rows of log files."""

    schema: Schema
    format: str
    path: str

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """All rows; whether a line is bad depends on all columns of the schema, not only on `columns`."""
        files = zip(*(described.column(name).to_pylist() for name in ("name", "size")), strict=True)
        batches = [batch for name, size in files for batch in self._read(name, size)]
        whole = pa.Table.from_batches(batches, to_arrow(self.schema + BAD_ROW_COLUMNS))
        return whole.select([*columns, *BAD_ROW_COLUMNS.names])

    def _read(self, name: str, size: int) -> Iterator[pa.RecordBatch]:
        """The rows of a file; lines that cannot be read become bad rows."""
        path = f"{self.path}/{name}"
        for table, _, bad in FORMATS[self.format](path, self.schema):
            yield from good_batches(self.schema, table)
            if bad:
                reasons = [f"{name}, line {line}: {reason}" for line, _, reason in bad]
                yield bad_batch(self.schema, [text for _, text, _ in bad], reasons)
        system, inner = file_system(path)
        if (found := system.get_file_info(inner).size) != size:
            raise _changed(name, size, found)


class _Listed(NamedTuple):
    date: int
    name: str
    size: int


def _list(path: str, pattern: str) -> Seen:
    """The files of a directory, oldest first, without those whose names begin with . or _: they are not complete."""
    system, inner = file_system(path)
    if system.get_file_info(inner).type != pa.fs.FileType.Directory:
        raise DataError(f"there is no directory {path}")
    found = [
        _Listed(file.mtime_ns or 0, file.base_name, file.size)
        for file in system.get_file_info(pa.fs.FileSelector(inner))
        if file.type == pa.fs.FileType.File and fnmatch(file.base_name, pattern) and file.base_name[0] not in "._"
    ]
    return {file.name: file.size for file in sorted(found)}


def _changed(name: str, before: int, now: int) -> DataError:
    return DataError(
        f"the file {name} had {before} bytes when it was read, and now has {now}",
        hint="move files in when they are complete, or choose among them with `pattern`",
    )
