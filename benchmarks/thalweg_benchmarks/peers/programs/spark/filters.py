"""A thousand standing filters: each tried on each row."""

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
reader = spark.readStream.schema("ts timestamp, id long, a long, b long, c long, d long, e long")
rows = reader.option("maxFilesPerTrigger", 4).parquet(f"{data}/parquet/s")
tried = []
for number, (x, low, y, next_low) in enumerate(json.loads(Path(data, "filters.json").read_text())):
    wanted = f"{x} >= {low} AND {x} < {low + 20} AND {y} >= {next_low} AND {y} < {next_low + 20}"
    tried.append(sf.when(sf.expr(wanted), sf.lit(number)))
answer = rows.select(sf.explode(sf.array_compact(sf.array(*tried))).alias("q"), "id")
writer = answer.writeStream.outputMode("append").option("checkpointLocation", mkdtemp())
writer = writer.format("noop") if out == "-" else writer.format("parquet").option("path", out)
writer.trigger(availableNow=True).start().awaitTermination()
