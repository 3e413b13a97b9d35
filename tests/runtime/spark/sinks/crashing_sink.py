"""A query whose process dies after its database has committed a batch and before Spark has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.sinks import ParquetSink, Sink, TableSink, sqlite

DEATH = 9


class Deadly:
    """The end of whoever writes to it."""

    def __init__(self, batch: int) -> None:
        self._batch = batch

    def write(self, changes: DataFrame, batch: int) -> None:
        if batch == self._batch:
            os._exit(DEATH)


def query(spark: SparkSession, folder: Path) -> SparkQuery:
    engine = Engine(spark, shards=2)
    engine.stream("s", spark.readStream.schema("ts long, k string").json(str(folder / "in")))
    return engine.query("SELECT k FROM s [RANGE 5]")


def sinks(folder: Path) -> list[Sink]:
    return [ParquetSink(folder / "parquet"), TableSink(sqlite(folder / "answers.db"), "answer")]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    run = query(local_spark(2), place).start(place / "checkpoint", sink=[*sinks(place), Deadly(1)])
    run.wait()
    (place / "in" / "1.json").write_text('{"ts": 4, "k": "b"}\n{"ts": 4, "k": "b"}\n')
    run.wait()
