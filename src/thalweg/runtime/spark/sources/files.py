"""Directories of files: each new file is read once, in the batch after it appears.

The offset is a `FileMemory`, so a file that is moved in late with an old date is not missed, and one that is renamed or
appended to after it was read is noticed: a bad row names it. Files must be moved in whole: a file whose size changes
between the time when it is listed and the time when it is read stops the query.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from thalweg.core.errors import DataError
from thalweg.core.visible import visible
from thalweg.formats.lines import file_system
from thalweg.runtime.spark.sources.file_memory import REMEMBER, FileId, FileMemory, Listing, step

_LOG = logging.getLogger("thalweg.sources")
NAME, SIZE, NOTICE = "name", "size", "notice"  # the columns that describe a file


def listed_files(
    spark: SparkSession,
    path: str,
    *,
    pattern: str,
    files_per_batch: int,
    partitions: int | None = None,
    recursive: bool = False,
    remember: int = REMEMBER,
) -> DataFrame:
    """A stream of the files in a directory whose names match `pattern`: a row for each file, or for a notice."""
    for option, value in (("files_per_batch", files_per_batch), ("remember_files", remember)):
        if value < 1:
            raise DataError(f"{option} wants 1 or more, got {value}")
    look(path, pattern, recursive)  # a missing directory raises here, not in a worker
    spec = {
        "path": path,
        "pattern": pattern,
        "files_per_batch": files_per_batch,
        "partitions": partitions or spark.sparkContext.defaultParallelism,
        "recursive": recursive,
        "remember": remember,
    }
    spark.dataSource.register(FileSource)
    return spark.readStream.format(FileSource.name()).option("spec", json.dumps(spec)).load()


class FileSource(DataSource):
    """The Spark data source behind `listed_files`; the option `spec` holds its arguments."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_files"

    def schema(self) -> str:
        """A row for each file: its name, its size when it was listed; or a notice about a file that was read before."""
        return f"{NAME} STRING, {SIZE} LONG, {NOTICE} STRING"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader that assigns files to tasks."""
        return FileReader(**json.loads(self.options["spec"]))


class Files(InputPartition):
    """Files for one task, with the size of each when it was listed; and notices."""

    def __init__(self, files: dict[str, int], notices: dict[str, str] | None = None) -> None:
        self.files, self.notices = files, notices or {}


class FileReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Assigns files to batches and tasks, oldest first."""

    def __init__(
        self,
        path: str,
        pattern: str,
        files_per_batch: int,
        partitions: int,
        recursive: bool = False,
        remember: int = REMEMBER,
    ) -> None:
        self._path, self._pattern, self._recursive = path, pattern, recursive
        self._files_per_batch, self._partitions, self._remember = files_per_batch, partitions, remember
        self._last: Listing | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name, like those below
        """No file has been read."""
        return FileMemory().to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """At most `files_per_batch` files."""
        return ReadMaxFiles(self._files_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read only the files that are there now."""
        self._last = look(self._path, self._pattern, self._recursive)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The files read before, and those of the next batch."""
        memory = FileMemory.from_json(start)
        there = look(self._path, self._pattern, self._recursive) if self._last is None else self._last
        after = memory.after(there, limit.max_files if isinstance(limit, ReadMaxFiles) else None, self._remember)
        return start if after is memory else after.to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The new files, spread evenly over the tasks; the first task also gets the notices."""
        found = step(FileMemory.from_json(start), FileMemory.from_json(end))
        for name, notice in found.notices.items():
            _LOG.warning("%s", visible(f"{self._path}: {name}: {notice}"))
        new = [(name, id_.size) for name, id_ in found.new.items()]
        parts = max(1, min(len(new), self._partitions))
        dealt = [Files(dict(new[i::parts]), found.notices if i == 0 else None) for i in range(parts)]
        return [part for part in dealt if part.files or part.notices]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The files of a task, as rows of `FileSource.schema`."""
        assert isinstance(partition, Files)
        names = [*partition.files, *partition.notices]
        sizes = [*partition.files.values(), *([None] * len(partition.notices))]
        notices = [*([None] * len(partition.files)), *partition.notices.values()]
        columns = [pa.array(names, pa.string()), pa.array(sizes, pa.int64()), pa.array(notices, pa.string())]
        yield pa.record_batch(columns, names=[NAME, SIZE, NOTICE])


def look(path: str, pattern: str, recursive: bool = False) -> Listing:
    """The files of a directory, oldest first, without those whose names begin with . or _: they are not complete."""
    system, inner = file_system(path)
    if system.get_file_info(inner).type != pa.fs.FileType.Directory:
        raise DataError(f"there is no directory {path}")
    if isinstance(system, pa.fs.LocalFileSystem):
        found = dict(_local_files(Path(inner), pattern, recursive))
    else:
        found = dict(_other_files(system, inner, pattern, recursive))
    return dict(sorted(found.items(), key=lambda item: (item[1].date, item[0])))


def _local_files(folder: Path, pattern: str, recursive: bool, above: str = "") -> Iterator[tuple[str, FileId]]:
    """With inodes; the directory is looked at many times a second, so each file is asked for once."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name[0] in "._":
                continue
            if entry.is_dir():
                if recursive:
                    yield from _local_files(folder / entry.name, pattern, True, f"{above}{entry.name}/")
            elif fnmatch(entry.name, pattern):
                with suppress(FileNotFoundError):  # it has just been removed
                    known = entry.stat()
                    yield above + entry.name, FileId(known.st_size, known.st_mtime_ns, known.st_ino)


def _other_files(system: pa.fs.FileSystem, inner: str, pattern: str, recursive: bool) -> Iterator[tuple[str, FileId]]:
    """Without inodes."""
    for file in system.get_file_info(pa.fs.FileSelector(inner, recursive=recursive)):
        name = file.path.removeprefix(inner).lstrip("/")
        hidden = any(part[0] in "._" for part in name.split("/"))
        if file.type == pa.fs.FileType.File and not hidden and fnmatch(file.base_name, pattern):
            yield name, FileId(file.size, file.mtime_ns or 0)


def check_size(path: str, size: int) -> None:
    """Raise if a file no longer has the size with which it was listed: whole rows of it may be missing."""
    system, inner = file_system(path)
    if (found := system.get_file_info(inner).size) != size:
        raise DataError(
            f"the file {Path(path).name} had {size} bytes when it was listed, and now has {found}",
            hint="move files in when they are complete, or choose among them with `pattern`",
        )
