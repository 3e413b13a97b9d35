"""Keys of one stream that the other does not have, once a window of every 10 s has closed."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores, slide = sys.argv[1:5]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
reader = spark.readStream.schema("ts timestamp, k long, v double").option("maxFilesPerTrigger", 4)
left = reader.parquet(f"{data}/parquet/l").select("ts", "k", sf.lit(False).alias("taken"))
right = reader.parquet(f"{data}/parquet/r").where("v < 25").select("ts", "k", sf.lit(True).alias("taken"))
rows = left.union(right).withWatermark("ts", "0 seconds")
windows = rows.groupBy(sf.window("ts", "60 seconds", f"{slide} seconds"), "k")
kept = windows.agg(sf.bool_or("taken").alias("taken")).where("NOT taken")
answer = kept.select(sf.col("window.end").alias("t"), "k")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
