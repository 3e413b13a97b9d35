"""A thousand standing filters on Spark: one flow against one native query that evaluates every predicate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources import parquet
from thalweg_benchmarks.result import Result
from thalweg_benchmarks.spark.measure import NoSink, Timing, native, timing

CORES = 2
_COLUMNS = "abcde"
_SCHEMA = Schema.of(ts=DataType.TIMESTAMP, **dict.fromkeys(_COLUMNS, DataType.BIGINT))
_START = 1_767_225_600_000_000  # 2026-01-01, in microseconds
_VALUES, _FILES, _FILES_PER_BATCH = 1000, 16, 2


def run(queries: int = 1000, rows: int = 3_200_000) -> Iterator[Result]:
    """Filters on two of five attributes, each of which selects 2% of the values."""
    spark = local_spark(CORES, **{"spark.sql.shuffle.partitions": str(CORES), "spark.driver.memory": "4g"})
    with TemporaryDirectory() as folder:
        place = Path(folder)
        _write(place / "s", rows)
        wanted = ranges(queries)
        mine = _ours(spark, place / "s", wanted, rows // _FILES)
        theirs = _native(spark, place / "s", wanted)
    detail = {"ours_rows_per_s": round(mine.rate), "native_rows_per_s": round(theirs.rate), "queries": queries}
    case = f"{queries} standing filters on Spark: rows/s, one flow / one native query"
    yield Result(case, mine.rate / theirs.rate, 10, True, detail)


def ranges(queries: int, seed: int = 7) -> list[str]:
    """Predicates over two columns each."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(queries):
        columns = draw.choice(list(_COLUMNS), 2, replace=False)
        lows = draw.integers(0, _VALUES, 2)
        found.append(" AND ".join(f"{c} >= {low} AND {c} < {low + 20}" for c, low in zip(columns, lows, strict=True)))
    return found


def _write(folder: Path, rows: int) -> None:
    folder.mkdir()
    draw, count = np.random.default_rng(1), rows // _FILES
    for file in range(_FILES):
        ts = pa.array(_START + 1000 * np.arange(file * count, (file + 1) * count)).cast(pa.timestamp("us", "UTC"))
        table = {"ts": ts, **{c: draw.integers(0, _VALUES, count) for c in _COLUMNS}}
        pq.write_table(pa.table(table), folder / f"{file:04d}.parquet")


def _ours(spark: SparkSession, folder: Path, wanted: list[str], rows_of_file: int) -> Timing:
    engine = Engine(spark, shards=CORES)
    engine.stream("s", parquet(spark, folder, _SCHEMA, files_per_batch=_FILES_PER_BATCH))
    flow = engine.flow("filters", checkpoint=mkdtemp(), sees_all=False)
    flow.add_all([f"SELECT * FROM s [RANGE 1 MINUTE] WHERE {condition}" for condition in wanted])
    run_ = flow.start(sink=NoSink(), trigger={"availableNow": True})
    run_.wait_until_done()
    return timing(run_.query, rows_of_file)


def _native(spark: SparkSession, folder: Path, wanted: list[str]) -> Timing:
    """Each row with an array of the queries that select it; Spark is faster with an array than with a row for each."""
    reader = spark.readStream.schema(to_spark(_SCHEMA)).option("maxFilesPerTrigger", _FILES_PER_BATCH)
    frame: DataFrame = reader.parquet(str(folder))
    tried = sf.array(*(sf.when(sf.expr(condition), sf.lit(i)) for i, condition in enumerate(wanted)))
    return native(frame.select("*", sf.array_compact(tried).alias("queries")))
