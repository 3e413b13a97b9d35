"""Streams run to their end, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame


@dataclass
class Sink:
    """Keeps the rows of every micro-batch; a run can be repeated from its checkpoint."""

    checkpoint: Path
    batches: list[list[dict[str, Any]]] = field(default_factory=list)

    def run(self, df: DataFrame, fail_at: int | None = None) -> Sink:
        """All that is there now; with `fail_at`, the batch of that number is read and then lost."""

        def keep(batch: DataFrame, number: int) -> None:
            table: pa.Table = batch.toArrow()
            if number == fail_at:
                raise RuntimeError("the sink fails")
            self.batches.append(table.to_pylist())

        writer = df.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self.checkpoint)).start()
        query.awaitTermination()
        return self

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all batches."""
        return [row for batch in self.batches for row in batch]

    @property
    def sizes(self) -> list[int]:
        """How many rows each batch had."""
        return [len(batch) for batch in self.batches]
