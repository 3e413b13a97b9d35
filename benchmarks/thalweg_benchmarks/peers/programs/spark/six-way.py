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
for name in "abcdef":
    stream = reader.parquet(f"{data}/parquet/{name}").withWatermark("ts", "12 seconds")
    stream = stream.select(sf.col("ts").alias(f"{name}_ts"), sf.col("k").alias(f"{name}_k"), sf.col("v").alias(name))
    if answer is None:
        answer = stream.withColumns({"first": sf.unix_micros("a_ts"), "last": sf.unix_micros("a_ts")})
        continue
    near = f"{name}_ts > a_ts - INTERVAL 12 SECONDS AND {name}_ts < a_ts + INTERVAL 12 SECONDS"
    answer = answer.join(stream, sf.expr(f"a_k = {name}_k AND {near}"))
    answer = answer.withColumn("first", sf.least("first", sf.unix_micros(f"{name}_ts")))
    answer = answer.withColumn("last", sf.greatest("last", sf.unix_micros(f"{name}_ts")))
    answer = answer.drop(f"{name}_ts", f"{name}_k").where("last - first < 12000000")
answer = answer.select(sf.col("a_k").alias("k"), *"abcdef")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
