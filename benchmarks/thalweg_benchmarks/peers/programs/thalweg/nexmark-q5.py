"""The auctions with most bids of the last 10 s, every 2 s."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.generators.nexmark import BID
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
engine.stream("bid", tw.sources.parquet(engine.spark, f"{data}/parquet/bid", BID, files_per_batch=4))
query = engine.query("""
    WITH counts AS (SELECT auction, COUNT(*) AS n FROM bid [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY auction),
         most AS (SELECT MAX(n) AS n FROM counts)
    SELECT auction, counts.n FROM counts JOIN most ON counts.n = most.n
""")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
