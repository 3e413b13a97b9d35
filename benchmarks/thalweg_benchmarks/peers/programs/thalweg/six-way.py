"""Combinations of six streams with one key, within 12 s."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
schema = Schema.of(ts=DataType.TIMESTAMP, k=DataType.BIGINT, v=DataType.BIGINT)
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
for name in "abcdef":
    engine.stream(name, tw.sources.parquet(engine.spark, f"{data}/parquet/{name}", schema, files_per_batch=16))
query = engine.query("""
    SELECT a.k, a.v AS a, b.v AS b, c.v AS c, d.v AS d, e.v AS e, f.v AS f
    FROM a [RANGE 12 SECONDS], b [RANGE 12 SECONDS], c [RANGE 12 SECONDS],
         d [RANGE 12 SECONDS], e [RANGE 12 SECONDS], f [RANGE 12 SECONDS]
    WHERE a.k = b.k AND b.k = c.k AND c.k = d.k AND d.k = e.k AND e.k = f.k
""")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
