"""A stream of `thalweg.generators` on Spark: rows made up in the workers, the same ones after any restart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from thalweg.generators import Generator, make
from thalweg.runtime.spark.schema import to_arrow, to_spark
from thalweg.runtime.spark.sources.rows import Pace, RowReader, Speed


def generator(
    spark: SparkSession,
    name: str,
    *,
    rows: int | None = None,
    speed: Speed = "max",
    rows_per_batch: int = 250_000,
    partitions: int | None = None,
    **options: Any,
) -> DataFrame:
    """The generator called `name` with its own `options` (seed, rate, ...), up to `rows` rows.

    `rate` says how many rows there are in a second of event time, `speed` how many such seconds pass in a real one.
    """
    made = make(name, **options)  # what is wrong with the options is said here, not in a worker
    pace = Pace(rows, rows_per_batch, partitions or spark.sparkContext.defaultParallelism, speed)
    spark.dataSource.register(GeneratorSource)
    spec = json.dumps({"name": name, "options": dict(made.options), "pace": asdict(pace)})
    return spark.readStream.format(GeneratorSource.name()).option("spec", spec).load()


class GeneratorSource(DataSource):
    """Spark's side of it; the option `spec` holds all that `generator` was told."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_generator"

    def schema(self) -> StructType:
        """The columns of the generator."""
        return to_spark(self._made().schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader that deals out ranges of rows."""
        return GeneratorReader(self._made(), Pace(**json.loads(self.options["spec"])["pace"]))

    def _made(self) -> Generator:
        spec = json.loads(self.options["spec"])
        return make(spec["name"], **spec["options"])


class GeneratorReader(RowReader):
    """Rows by their number."""

    def __init__(self, made: Generator, pace: Pace) -> None:
        super().__init__(pace)
        self._made = made

    def due(self, first: int, seconds: float) -> int:
        """The generator's rate says it."""
        return first + int(seconds * self._made.rows_per_second)

    def batches(self, first: int, end: int) -> Iterator[pa.RecordBatch]:
        """The rows, made on the spot."""
        table = self._made.table(first, end - first)
        yield from table.cast(to_arrow(self._made.schema)).to_batches()
