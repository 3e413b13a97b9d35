"""The highest bids of each 10 s."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.generators.nexmark import BID
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
engine.stream("bid", tw.sources.parquet(engine.spark, f"{data}/parquet/bid", BID, files_per_batch=16))
query = engine.query("""
    WITH bids AS (SELECT auction, bidder, price FROM bid [RANGE 10 SECONDS SLIDE 10 SECONDS]),
         highest AS (SELECT MAX(price) AS price FROM bids)
    SELECT auction, bidder, bids.price FROM bids JOIN highest ON bids.price = highest.price
""")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
