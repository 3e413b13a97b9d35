"""Bids with their prices in euros."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.generators.nexmark import BID
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
engine.stream("bid", tw.sources.parquet(engine.spark, f"{data}/parquet/bid", BID, files_per_batch=16))
query = engine.query("SELECT auction, bidder, 0.908 * price AS price FROM bid")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
