"""Pairs with the same key, less than 2 s apart."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
reader = spark.readStream.schema("ts timestamp, k long, v double").option("maxFilesPerTrigger", 4)
left, right = (reader.parquet(f"{data}/parquet/{name}").withWatermark("ts", "2 seconds").alias(name) for name in "lr")
near = sf.expr("l.k = r.k AND l.ts > r.ts - INTERVAL 2 SECONDS AND l.ts < r.ts + INTERVAL 2 SECONDS")
answer = left.join(right, near).select("l.k", "l.v", sf.col("r.v").alias("w"))
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
