"""A stream of `thalweg.generators` on Spark: the workers generate the rows, and the same rows after any restart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from thalweg.generators import Generator, make
from thalweg.runtime.spark.schema import to_arrow
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.rows import RANGE_COLUMNS, Pace, RangeLoad, RowReader, Speed


def generator(
    spark: SparkSession,
    name: str,
    *,
    rows: int | None = None,
    speed: Speed = "max",
    rows_per_batch: int = 250_000,
    partitions: int | None = None,
    **options: Any,
) -> ArrowSource:
    """The generator called `name` with its own `options` (seed, rate, ...), up to `rows` rows.

    `rate` is the number of rows in a second of event time; `speed` is how many such seconds pass in a real second.
    """
    made = make(name, **options)  # a wrong option raises here, not in a worker
    pace = Pace(rows, rows_per_batch, partitions or spark.sparkContext.defaultParallelism, speed)
    spark.dataSource.register(GeneratorSource)
    spec = json.dumps({"name": name, "options": dict(made.options), "pace": asdict(pace)})
    ranges = spark.readStream.format(GeneratorSource.name()).option("spec", spec).load()
    return ArrowSource(ranges, made.schema, GeneratedRows(name, dict(made.options)))


class GeneratorSource(DataSource):
    """The Spark data source behind `generator`; the option `spec` holds its arguments."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_generator"

    def schema(self) -> str:
        """Ranges of rows."""
        return RANGE_COLUMNS

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader that assigns ranges of rows to tasks."""
        spec = json.loads(self.options["spec"])
        return GeneratorReader(make(spec["name"], **spec["options"]), Pace(**spec["pace"]))


class GeneratorReader(RowReader):
    """Assigns the rows of a generator to batches and tasks."""

    def __init__(self, made: Generator, pace: Pace) -> None:
        super().__init__(pace)
        self._made = made

    def due(self, first: int, seconds: float) -> int:
        """Computed from the generator's rate."""
        return first + int(seconds * self._made.rows_per_second)


@dataclass(frozen=True)
class GeneratedRows(RangeLoad):
    """Generates the rows of a range; a range always has the same rows."""

    name: str
    options: dict[str, Any]

    def rows(self, first: int, end: int, columns: Sequence[str]) -> pa.Table:
        """Rows `first` to `end` of the generator."""
        made = make(self.name, **self.options)
        return made.table(first, end - first).cast(to_arrow(made.schema)).select(columns)
