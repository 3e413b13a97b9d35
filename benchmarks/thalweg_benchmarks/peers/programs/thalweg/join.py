"""Pairs with the same key, less than 2 s apart."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
schema = Schema.of(ts=DataType.TIMESTAMP, k=DataType.BIGINT, v=DataType.DOUBLE)
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
for name in "lr":
    engine.stream(name, tw.sources.parquet(engine.spark, f"{data}/parquet/{name}", schema, files_per_batch=4))
query = engine.query("SELECT l.k, l.v, r.v AS w FROM l [RANGE 2 SECONDS] JOIN r [RANGE 2 SECONDS] ON l.k = r.k")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
