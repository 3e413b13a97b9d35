"""The cases of `thalweg bench spark`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

from thalweg.runtime.spark.api.engine import Engine
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.schema import to_spark
from thalweg.runtime.spark.sources import ArrowSource, parquet
from thalweg_benchmarks.result import Result
from thalweg_benchmarks.spark.data import SCHEMA, write_stream
from thalweg_benchmarks.spark.measure import NoSink, Timing, empty_batches, native, ours, timing

CORES = 2
_AGGREGATE = "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM s [RANGE {0} SECONDS SLIDE 10 SECONDS] GROUP BY k"
_JOIN = "SELECT l.k, l.v, r.v AS w FROM l [RANGE 2 SECONDS] JOIN r [RANGE 2 SECONDS] ON l.k = r.k"
_FILES, _JOIN_FILES = 32, 4
_ROUNDS = 3  # the last one counts, because Java compiles code that runs often


def run(rows: int = 8_000_000, join_rows: int = 300_000) -> Iterator[Result]:
    """A sliding aggregate, a longer window, a join, and almost empty batches, over data in a temporary folder."""
    spark = local_spark(CORES, **{"spark.sql.shuffle.partitions": str(CORES), "spark.driver.memory": "4g"})
    with TemporaryDirectory() as folder:
        place = Path(folder)
        stream = write_stream(place / "s", rows, _FILES, 1000, 2000, seed=1)
        yield from _aggregates(spark, stream, rows // _FILES)
        for seed, side in ((2, "l"), (3, "r")):
            write_stream(place / side, join_rows, _JOIN_FILES, 1000, 2000, seed)
        yield _join(spark, place / "l", place / "r", join_rows // _JOIN_FILES)
        yield _empty(spark, place)


def _source(spark: SparkSession, folder: Path, files: int) -> DataFrame:
    return spark.readStream.schema(to_spark(SCHEMA)).option("maxFilesPerTrigger", files).parquet(str(folder))


def _aggregates(spark: SparkSession, folder: Path, rows_of_file: int) -> Iterator[Result]:
    """Thalweg over `sources.parquet`, and, in the details, over the DataFrame that native Spark reads."""
    frame, source = _source(spark, folder, 4), parquet(spark, folder, SCHEMA, files_per_batch=4)
    windows = frame.withWatermark("ts", "0 seconds").groupBy(sf.window("ts", "60 seconds", "10 seconds"), "k")
    for _ in range(_ROUNDS - 1):
        identity = native(frame.mapInArrow(lambda batches: batches, frame.schema))
        theirs = native(windows.agg(sf.sum("v"), sf.count("*")), "update")
        through = ours(_query(spark, frame, _AGGREGATE.format(60)))
        mine = ours(_query(spark, source, _AGGREGATE.format(60)), rows_of_file)
    detail = _detail(mine, theirs, identity=identity, ours_from_dataframe=through)
    yield Result("sliding aggregate, 60 s / 10 s: rows/s, ours / native", mine.rate / theirs.rate, 3, True, detail)
    yield Result("sliding aggregate: rows/s, ours / mapInArrow identity", mine.rate / identity.rate, 1, True, detail)
    longer = ours(_query(spark, source, _AGGREGATE.format(1800)), rows_of_file)
    growth = longer.batch / mine.batch
    yield Result("window of 1800 s / of 60 s: time per batch", growth, 2, False, _detail(longer, mine))


def _query(spark: SparkSession, source: DataFrame | ArrowSource, cql: str) -> SparkQuery:
    engine = Engine(spark, shards=CORES)
    engine.stream("s", source)
    return engine.query(cql)


def _join(spark: SparkSession, left: Path, right: Path, rows_of_file: int) -> Result:
    """Pairs of rows less than two seconds apart; both must find the same pairs, or the ratio is 0."""
    found: dict[str, tuple[int, int]] = {}
    engine = Engine(spark, shards=CORES)
    for name, folder in (("l", left), ("r", right)):
        engine.stream(name, parquet(spark, folder, SCHEMA, files_per_batch=1))
    mine = _summed(found, "ours", lambda sink: _ours_into(engine, sink, rows_of_file))
    sides = [_source(spark, f, 1).withWatermark("ts", "2 seconds").alias(n) for n, f in (("l", left), ("r", right))]
    near = sf.expr("l.k = r.k AND l.ts > r.ts - INTERVAL 2 SECONDS AND l.ts < r.ts + INTERVAL 2 SECONDS")
    pairs = sides[0].join(sides[1], near).select("l.k", "l.v", sf.col("r.v").alias("w"))
    theirs = _summed(found, "native", lambda sink: _native_into(pairs, sink))
    equal = found["ours"] == found["native"]
    detail = {"pairs": found["native"][0], "equal": equal, **_detail(mine, theirs)}
    ratio = mine.rate / theirs.rate if equal else 0.0
    return Result("join, Zipf(0.8) over 2,000 keys, +-2 s: rows/s, ours / native", ratio, 30, True, detail)


class _Adding:
    """A sink that counts rows and adds up their hashes: equal sums mean equal rows."""

    def __init__(self) -> None:
        self.count, self.total = 0, 0

    def write(self, changes: DataFrame, batch: int) -> None:
        hashes = sf.xxhash64("k", "v", "w").bitwiseAND(sf.lit((1 << 40) - 1))
        count, total = changes.agg(sf.count("*"), sf.sum(hashes)).collect()[0]
        self.count += count
        self.total += total or 0


def _summed(found: dict[str, tuple[int, int]], name: str, work: Callable[[_Adding], Timing]) -> Timing:
    sink = _Adding()
    measured = work(sink)
    found[name] = (sink.count, sink.total)
    return measured


def _ours_into(engine: Engine, sink: _Adding, rows_of_file: int) -> Timing:
    with TemporaryDirectory() as checkpoint:
        run_ = engine.query(_JOIN).start(checkpoint, sink=sink, trigger={"availableNow": True})
        run_.wait_until_done()
        return timing(run_.query, rows_of_file)


def _native_into(pairs: DataFrame, sink: _Adding) -> Timing:
    with TemporaryDirectory() as checkpoint:
        writer = pairs.writeStream.foreachBatch(sink.write).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return timing(query)


def _empty(spark: SparkSession, place: Path) -> Result:
    """Batches of one row: the fixed cost of a batch, against a native query without state."""

    def start_ours(rows: DataFrame, checkpoint: Path) -> StreamingQuery:
        return _query(spark, rows, _AGGREGATE.format(60)).start(checkpoint, sink=NoSink()).query

    def start_native(rows: DataFrame, checkpoint: Path) -> StreamingQuery:
        writer = rows.where("v > 0").writeStream.foreachBatch(NoSink().write)
        return writer.option("checkpointLocation", str(checkpoint)).start()

    for number in range(_ROUNDS):
        mine = empty_batches(spark, place / f"ours-{number}", start_ours)
        theirs = empty_batches(spark, place / f"native-{number}", start_native)
    detail = {"ours_ms": round(mine), "native_ms": round(theirs)}
    return Result("almost empty micro-batch: ours / stateless native", mine / theirs, 200 / 120, False, detail)


def _detail(mine: Timing, theirs: Timing, **more: Timing) -> dict[str, float]:
    rates = {"ours": mine, "other": theirs, **more}
    return {f"{name}_rows_per_s": round(timing_.rate) for name, timing_ in rates.items()}
