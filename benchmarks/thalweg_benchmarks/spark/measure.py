"""The times of micro-batches, as Spark reports them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.tasks.deliver import Take

_WARMING_UP = 2  # batches that start workers and compile code


@dataclass(frozen=True)
class Timing:
    """The batches after the first ones, which warm up."""

    rows: int
    milliseconds: float
    batch: float  # the median, in milliseconds

    @property
    def rate(self) -> float:
        """Rows per second."""
        return 1000 * self.rows / self.milliseconds if self.milliseconds else 0.0


class NoSink:
    """A sink that has all rows computed and discards them."""

    def take(self, schema: StructType) -> Take:
        """Take rows as Arrow, as `ParquetSink` does."""
        return _discard

    def commit(self, notes: Sequence[str], batch: int) -> None:
        """Nothing to commit."""

    def write(self, changes: DataFrame, batch: int) -> None:
        """Take rows as a DataFrame, and discard them with Spark's `noop`."""
        changes.write.format("noop").mode("overwrite").save()


def _discard(rows: Iterable[pa.RecordBatch], batch: int, part: int) -> str:
    for _ in rows:
        pass
    return ""


def ours(query: SparkQuery, rows_of_one: int = 1) -> Timing:
    """Run a Thalweg query over all rows of its sources; a row that Spark counts stands for `rows_of_one` rows."""
    run = query.start(mkdtemp(), sink=NoSink(), trigger={"availableNow": True})
    run.wait_until_done()
    return timing(run.query, rows_of_one)


def native(frame: DataFrame, mode: str = "append") -> Timing:
    """Run a streaming DataFrame with native Spark."""
    writer = frame.writeStream.outputMode(mode).foreachBatch(NoSink().write)
    query = writer.option("checkpointLocation", mkdtemp()).trigger(availableNow=True).start()
    query.awaitTermination()
    return timing(query)


def timing(query: StreamingQuery, rows_of_one: int = 1) -> Timing:
    """The times that Spark reports for a query's batches that had rows."""
    batches = [p for p in query.recentProgress if p["numInputRows"]][_WARMING_UP:]
    spent = [float(p["durationMs"]["triggerExecution"]) for p in batches]
    rows = rows_of_one * sum(p["numInputRows"] for p in batches)
    return Timing(rows, sum(spent), median(spent) if spent else 0.0)


def empty_batches(
    spark: SparkSession, folder: Path, start: Callable[[DataFrame, Path], StreamingQuery], count: int = 40
) -> float:
    """The median time of batches with one row, in milliseconds; the next row arrives after the batch has ended."""
    folder.mkdir()
    query = start(spark.readStream.schema("ts timestamp, k long, v double").json(str(folder)), Path(mkdtemp()))
    for number in range(count):
        row = {"ts": f"2026-01-01T00:00:{number:02d}Z", "k": number, "v": 1.0}
        (folder / f"{number}.json").write_text(json.dumps(row) + "\n")
        query.processAllAvailable()
    spent = [float(p["durationMs"]["triggerExecution"]) for p in query.recentProgress if p["numInputRows"]]
    query.stop()
    return median(spent[count // 2 :])
