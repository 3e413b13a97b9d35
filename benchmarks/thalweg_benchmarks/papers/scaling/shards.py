"""Rows per second on Spark by the number of shards."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from thalweg_benchmarks.papers.claims import grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale
from thalweg_benchmarks.papers.scaling.running import RATE

RATE_OF_EVENTS = 1_000  # rows per second of event time


def _run(scale: Scale) -> FigureData:
    # Imported here, because the other experiments run without Spark.
    from thalweg.runtime.spark.api.engine import Engine
    from thalweg.runtime.spark.api.local_spark import local_spark
    from thalweg.runtime.spark.sources import parquet
    from thalweg_benchmarks.spark.data import SCHEMA, write_stream
    from thalweg_benchmarks.spark.measure import ours

    rows, files = scale.pick((8_000_000, 40), (12_000, 12))
    query = "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM s [RANGE 60 SECONDS SLIDE 10 SECONDS] GROUP BY k"
    spark = local_spark(2)
    rates: dict[float | str, float] = {}
    with TemporaryDirectory() as folder:
        stream = write_stream(Path(folder) / "s", rows, files, RATE_OF_EVENTS, 2_000, seed=1)
        for shards in scale.pick((2, 1, 2, 4, 8, 16), (1, 2)):  # the first run warms up
            engine = Engine(spark, shards=shards)
            engine.stream("s", parquet(spark, stream, SCHEMA, files_per_batch=4))
            rates[shards] = ours(engine.query(query), rows // files).rate
    return FigureData({"aggregate on Spark": dict(sorted(rates.items()))})


BY_SHARDS = Experiment(
    "scale-shards",
    "rows per second on Spark by the number of shards",
    "Two shards use two cores; more shards than cores cost little, so that a query can be given room to grow.",
    "A sliding aggregate (60 s by 10 s, 2,000 keys) over Parquet files on a local Spark with two cores, checkpoints "
    "on.",
    Axis("shards", log=True),
    RATE,
    _run,
    (grows("aggregate on Spark", "sixteen shards have at least a third of the rate of one", least=1 / 3),),
    {
        "aggregate on Spark": "two cores are busy with two shards; every further one is a task more in each "
        "micro-batch, with a state of its own to open and to save",
    },
)
