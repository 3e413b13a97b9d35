"""Combinations of six streams with one key, within 12 s."""

import sys
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
reader = spark.readStream.schema("ts timestamp, k long, v long").option("maxFilesPerTrigger", 4)
answer = None
for place, name in enumerate("abcdef"):
    stream = reader.parquet(f"{data}/parquet/{name}").withWatermark("ts", "12 seconds")
    stream = stream.select(sf.col("ts").alias(f"{name}_ts"), sf.col("k").alias(f"{name}_k"), sf.col("v").alias(name))
    near = [
        f"{name}_ts > {other}_ts - INTERVAL 12 SECONDS AND {name}_ts < {other}_ts + INTERVAL 12 SECONDS"
        for other in "abcdef"[:place]
    ]
    answer = stream if answer is None else answer.join(stream, sf.expr(" AND ".join([f"a_k = {name}_k", *near])))
answer = answer.select(sf.col("a_k").alias("k"), *"abcdef")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
