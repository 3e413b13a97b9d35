"""Parquet files by batch, from which any answer, past or present, is a filter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


class ParquetSink:
    """A folder `batch=<n>` for each batch under `path`; a batch that is given again overwrites its own.

    The answer at t is the rows with `_ts <= t < _exp` (NULLs: ever since, not yet known), each `sum(_sign)` times.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()

    def write(self, changes: DataFrame, batch: int) -> None:
        """The batch's changes, all columns as they are."""
        changes.write.mode("overwrite").parquet(str(self._folder(batch)))

    def read(self, spark: SparkSession, schema: StructType, last: int) -> DataFrame:
        """All changes up to and with batch `last`."""
        found = [str(self._folder(batch)) for batch in self._batches() if batch <= last]
        return spark.read.schema(schema).parquet(*found) if found else spark.createDataFrame([], schema)

    def _folder(self, batch: int) -> Path:
        return self.path / f"batch={batch}"

    def _batches(self) -> Sequence[int]:
        return sorted(int(folder.name.partition("=")[2]) for folder in self.path.glob("batch=*"))
