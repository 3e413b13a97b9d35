"""Persons who registered and opened an auction within the same 10 s."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.generators.nexmark import AUCTION, PERSON
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
for name, schema in {"auction": AUCTION, "person": PERSON}.items():
    engine.stream(name, tw.sources.parquet(engine.spark, f"{data}/parquet/{name}", schema, files_per_batch=16))
query = engine.query("""
    SELECT DISTINCT p.id, p.name
    FROM person [RANGE 10 SECONDS SLIDE 10 SECONDS] p JOIN auction [RANGE 10 SECONDS SLIDE 10 SECONDS] a
    ON p.id = a.seller
""")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
