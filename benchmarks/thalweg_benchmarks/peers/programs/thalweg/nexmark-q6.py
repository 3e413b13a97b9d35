"""By seller, the average price of the last ten auctions that have ended: auctions are also a stream by their ends."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.generators.nexmark import AUCTION, BID
from thalweg.runtime.spark.api.local_spark import local_spark
from thalweg_benchmarks.spark.measure import NoSink

data, out, cores = sys.argv[1:4]
engine = tw.Engine(local_spark(cores, **{"spark.driver.memory": "4g"}), shards=int(cores))
engine.stream("bid", tw.sources.parquet(engine.spark, f"{data}/parquet/bid", BID, files_per_batch=4))
auctions = tw.sources.parquet(engine.spark, f"{data}/parquet/auction", AUCTION, files_per_batch=4)
engine.stream("ended", auctions, timestamp="expires", lateness="1 minute")
query = engine.query("""
    SELECT seller, AVG(final) AS price FROM ISTREAM(
        SELECT a.id, a.seller, MAX(b.price) AS final FROM ended [NOW] a JOIN bid [RANGE 5 MINUTES] b ON a.id = b.auction
        GROUP BY a.id, a.seller
    ) [PARTITION BY seller ROWS 10] GROUP BY seller
""")
run = query.start(mkdtemp(), sink=NoSink() if out == "-" else tw.sinks.ParquetSink(out))
run.wait()
run.drain()
run.wait()
run.stop()
