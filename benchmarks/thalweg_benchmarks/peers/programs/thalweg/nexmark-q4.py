"""By category, the average of the highest bids."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.generators.nexmark import AUCTION, BID
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
for name, schema in {"auction": AUCTION, "bid": BID}.items():
    engine.stream(name, tw.sources.parquet(engine.spark, f"{data}/parquet/{name}", schema, files_per_batch=4))
query = engine.query("""
    SELECT category, AVG(final) AS price FROM (
        SELECT a.id, a.category, MAX(b.price) AS final FROM auction a JOIN bid b ON a.id = b.auction
        WHERE b.ts >= a.ts AND b.ts <= a.expires GROUP BY a.id, a.category
    ) GROUP BY category
""")
sink = NoSink() if out == "-" else tw.sinks.ParquetSink(out)
query.start(mkdtemp(), sink=sink, trigger={"availableNow": True}).wait_until_done()
