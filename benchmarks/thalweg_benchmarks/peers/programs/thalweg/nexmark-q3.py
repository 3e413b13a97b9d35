"""Auctions of a category whose sellers live in three states."""

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
    SELECT name, city, state, a.id FROM auction a JOIN person p ON a.seller = p.id
    WHERE category = 3 AND state IN ('OR', 'ID', 'CA')
""")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
