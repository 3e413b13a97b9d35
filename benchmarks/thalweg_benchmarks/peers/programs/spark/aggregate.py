"""Count and sum of the last 60 s by key, once a window of every 10 s has closed."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores, slide = sys.argv[1:5]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
reader = spark.readStream.schema("ts timestamp, k long, v double").option("maxFilesPerTrigger", 4)
rows = reader.parquet(f"{data}/parquet/s").withWatermark("ts", "0 seconds")
windows = rows.groupBy(sf.window("ts", "60 seconds", f"{slide} seconds"), "k")
sums = windows.agg(sf.count("*").alias("n"), sf.sum("v").alias("total"))
answer = sums.select(sf.col("window.end").alias("t"), "k", "n", "total")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
