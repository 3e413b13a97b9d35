"""Auctions of a category whose sellers live in three states."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
auction = spark.readStream.schema(
    "ts timestamp, id long, item string, category long, initial_bid long, reserve long, seller long, expires timestamp"
)
auction = auction.option("maxFilesPerTrigger", 16).parquet(f"{data}/parquet/auction")
person = spark.readStream.schema("ts timestamp, id long, name string, email string, city string, state string")
person = person.option("maxFilesPerTrigger", 16).parquet(f"{data}/parquet/person")
sellers = person.where("state IN ('OR', 'ID', 'CA')").withColumnRenamed("id", "seller")
answer = auction.where("category = 3").join(sellers, "seller").select("name", "city", "state", "id")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
