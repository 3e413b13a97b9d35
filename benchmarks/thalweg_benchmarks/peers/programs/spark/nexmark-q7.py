"""The highest bid of each 10 s."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
bid = spark.readStream.schema("ts timestamp, auction long, bidder long, price long")
bid = bid.option("maxFilesPerTrigger", 16).parquet(f"{data}/parquet/bid").withWatermark("ts", "0 seconds")
highest = sf.max(sf.struct("price", "auction", "bidder")).alias("bid")
windows = bid.groupBy(sf.window("ts", "10 seconds")).agg(highest)
answer = windows.select(sf.col("window.end").alias("t"), "bid.auction", "bid.bidder", "bid.price")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
