"""All changes as Parquet files, by batch; any answer, past or present, is a filter over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.files import not_written, replace_file, sync_file
from thalweg.runtime.spark.sinks.base import SinkContext
from thalweg.runtime.spark.tasks.deliver import Take, taken

_OWNER = "_checkpoint"  # readers of Parquet folders ignore names that start with _
_TAKEN = "_taken"
_SPARKS_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"  # Spark reads the types that Parquet lacks from here


class ParquetSink:
    """A folder `batch=<n>` for each batch under `path`; a batch that is sent again replaces its folder.

    The answer at t is the rows with `_ts <= t < _exp` (NULLs: from the start, not yet known), each `sum(_sign)` times.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._context: SinkContext | None = None

    def open(self, context: SinkContext) -> None:
        """Remember the query that the sink belongs to."""
        self._context = context

    def take(self, schema: StructType) -> Take:
        """The function by which each task writes a file, which `commit` makes part of the batch."""
        metadata = {_SPARKS_SCHEMA: schema.json().encode()}
        return ParquetFile(str(self.path / _TAKEN), to_arrow_schema(schema, timezone="UTC").with_metadata(metadata))

    def commit(self, notes: Sequence[str], batch: int) -> None:
        """Move the committed files into the batch's folder; files of other attempts are removed."""
        if self._context is not None:
            self._claim(self._context.owner())
        staged, place = self.path / _TAKEN, self._folder(batch)
        whole, old = (staged / f"{batch}-{uuid4().hex}-{kind}" for kind in ("whole", "old"))
        try:
            whole.mkdir(parents=True)
            for name in notes:
                (staged / str(batch) / name).rename(whole / name)
            sync_file(whole)
            if place.exists():  # the batch was written before
                place.rename(old)
            whole.rename(place)
            sync_file(self.path)
        except OSError as error:
            raise not_written(place, error) from error
        rmtree(staged, ignore_errors=True)  # there is one batch at a time

    def write(self, changes: DataFrame, batch: int) -> None:
        """Write the changes of a batch."""
        self.commit(taken(changes, self.take(changes.schema), batch), batch)

    def rows(self, spark: SparkSession, schema: StructType, batch: int) -> DataFrame:
        """The changes of a batch."""
        return spark.read.schema(schema).parquet(str(self._folder(batch)))

    def read(self, spark: SparkSession, schema: StructType, last: int) -> DataFrame:
        """All changes up to and with batch `last`."""
        batches = [batch for batch in self._batches() if batch <= last]
        if len(batches) != last + 1:
            raise CheckpointError(
                f"{self.path} holds {len(batches)} of the {last + 1} batches that the query has done",
                hint="a Parquet sink must be there from the first start on; restore the folders, or start anew",
            )
        found = [str(self._folder(batch)) for batch in batches]
        return spark.read.schema(schema).parquet(*found) if found else spark.createDataFrame([], schema)

    def _claim(self, owner: str) -> None:
        """Refuse a folder that belongs to another checkpoint: batches of two queries would mix."""
        path = self.path / _OWNER
        if not path.exists():
            replace_file(path, owner.encode())
        elif path.read_text() != owner:
            raise CheckpointError(
                f"{self.path} holds the changes of a query with another checkpoint",
                hint="go on with that checkpoint, choose another folder, or remove this one",
            )

    def _folder(self, batch: int) -> Path:
        return self.path / f"batch={batch}"

    def _batches(self) -> Sequence[int]:
        return sorted(int(folder.name.partition("=")[2]) for folder in self.path.glob("batch=*"))


@dataclass(frozen=True)
class ParquetFile:
    """Writes a task's rows to a file with a name of its own, `folder/<batch>/<name>`; the note is the name."""

    folder: str
    schema: pa.Schema

    def __call__(self, rows: Iterable[pa.RecordBatch], batch: int, part: int) -> str:
        """Write a task's rows; part 0 always writes a file, so that every batch has its columns."""
        path = Path(self.folder) / str(batch) / f"part-{part:05d}-{uuid4().hex}.parquet"
        there = (pa.Table.from_batches([one]).cast(self.schema) for one in rows if one.num_rows)
        first = next(there, None if part else self.schema.empty_table())
        if first is None:
            return ""
        texts = [field.name for field in self.schema if pa.types.is_string(field.type)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with pq.ParquetWriter(path, self.schema, use_dictionary=texts) as writer:
                for table in chain([first], there):
                    writer.write_table(table)
            sync_file(path)
        except OSError as error:
            raise not_written(path, error) from error
        return path.name
