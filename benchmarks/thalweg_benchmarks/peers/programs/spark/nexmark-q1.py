"""Bids with their prices in euros."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
bid = spark.readStream.schema("ts timestamp, auction long, bidder long, price long")
bid = bid.option("maxFilesPerTrigger", 16).parquet(f"{data}/parquet/bid")
answer = bid.selectExpr("auction", "bidder", "0.908D * price AS price")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
