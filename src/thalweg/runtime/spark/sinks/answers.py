"""The default sink: Parquet files by batch, from which any answer, past or present, is a filter."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame


class AnswerSink:
    """One folder per batch; a batch that is given again overwrites its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, changes: DataFrame, batch: int) -> None:
        """The batch's changes, all columns as they are."""
        changes.write.mode("overwrite").parquet(str(self.folder / f"batch={batch}"))
