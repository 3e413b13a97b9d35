"""Parquet files by batch, from which any answer, past or present, is a filter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from thalweg.core.errors import CheckpointError
from thalweg.runtime.shards.files import replace_file
from thalweg.runtime.spark.sinks.base import Told

_OWNER = "_checkpoint"  # a name that readers of Parquet folders leave alone


class ParquetSink:
    """A folder `batch=<n>` for each batch under `path`; a batch that is given again overwrites its own.

    The answer at t is the rows with `_ts <= t < _exp` (NULLs: ever since, not yet known), each `sum(_sign)` times.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._told: Told | None = None

    def open(self, told: Told) -> None:
        """Whose changes come."""
        self._told = told

    def write(self, changes: DataFrame, batch: int) -> None:
        """The batch's changes, all columns as they are."""
        if self._told is not None:
            self._claim(self._told.owner())
        changes.write.mode("overwrite").parquet(str(self._folder(batch)))

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
        """The folder is one checkpoint's: batches of two would lie side by side."""
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
