"""A thousand standing filters: one flow."""

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

import thalweg as tw
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
schema = Schema.of(ts=DataType.TIMESTAMP, id=DataType.BIGINT, **dict.fromkeys("abcde", DataType.BIGINT))
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
arriving = Path(mkdtemp())  # files come once the queries stand
engine.stream("s", tw.sources.parquet(engine.spark, arriving, schema, files_per_batch=4))
flow = engine.flow("filters", checkpoint=mkdtemp(), sees_all=False)
flow.add_all(
    [
        f"SELECT id FROM s [NOW] WHERE {x} BETWEEN {low} AND {low + 19} AND {y} BETWEEN {next_low} AND {next_low + 19}"
        for x, low, y, next_low in json.loads(Path(data, "filters.json").read_text())
    ]
)
run = flow.start(sink=NoSink() if out == "-" else tw.sinks.ParquetSink(out))
run.wait()
for file in sorted(Path(data, "parquet/s").iterdir()):
    (arriving / file.name).symlink_to(file)
run.wait()
run.stop()
