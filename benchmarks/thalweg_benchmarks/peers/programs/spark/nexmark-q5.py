"""The auctions with most bids of the last 10 s, every 2 s."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
bid = spark.readStream.schema("ts timestamp, auction long, bidder long, price long")
bid = bid.option("maxFilesPerTrigger", 4).parquet(f"{data}/parquet/bid").withWatermark("ts", "0 seconds")
counts = bid.groupBy(sf.window("ts", "10 seconds", "2 seconds"), "auction").agg(sf.count("*").alias("n"))
most = counts.groupBy("window").agg(sf.max("n").alias("most"), sf.collect_list(sf.struct("auction", "n")).alias("all"))
each = most.select(sf.col("window.end").alias("t"), "most", sf.inline("all"))
answer = each.where("n = most").select("t", "auction", "n")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
