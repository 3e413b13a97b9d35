"""Persons who registered and opened an auction within the same 10 s."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
auction = spark.readStream.schema(
    "ts timestamp, id long, item string, category long, initial_bid long, reserve long, seller long, expires timestamp"
)
auction = auction.option("maxFilesPerTrigger", 16).parquet(f"{data}/parquet/auction")
person = spark.readStream.schema("ts timestamp, id long, name string, email string, city string, state string")
person = person.option("maxFilesPerTrigger", 16).parquet(f"{data}/parquet/person")
both = person.select("ts", "id", "name", sf.lit(False).alias("sells")).union(
    auction.select("ts", sf.col("seller").alias("id"), sf.lit(None).alias("name"), sf.lit(True).alias("sells"))
)
windows = both.withWatermark("ts", "0 seconds").groupBy(sf.window("ts", "10 seconds"), "id")
found = windows.agg(sf.max("name").alias("name"), sf.bool_or("sells").alias("sells")).where(
    "sells AND name IS NOT NULL"
)
answer = found.select(sf.col("window.end").alias("t"), "id", "name")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
