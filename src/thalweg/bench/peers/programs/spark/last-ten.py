"""The last ten rows of each key: a state of one's own for each key, told of anew with each batch."""

import sys
from tempfile import mkdtemp

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming.state import GroupStateTimeout

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
reader = spark.readStream.schema("ts timestamp, k long, v double").option("maxFilesPerTrigger", 4)


def last_ten(key, frames, state):
    ts, v = state.get if state.exists else ([], [])
    ten = pd.concat([pd.DataFrame({"ts": ts, "v": v}), *(frame[["ts", "v"]] for frame in frames)])
    ten = ten.nlargest(10, "ts")
    state.update((ten["ts"].tolist(), ten["v"].tolist()))
    yield pd.DataFrame({"k": key[0], "v": ten["v"]})


answer = reader.parquet(f"{data}/parquet/s").selectExpr("unix_millis(ts) AS ts", "k", "v").groupBy("k").applyInPandasWithState(
    last_ten, "k long, v double", "ts array<long>, v array<double>", "update", GroupStateTimeout.NoTimeout
)


def keep(frame, batch):
    if out == "-":
        frame.write.format("noop").mode("overwrite").save()
    else:  # what is told of a key takes the place of what was told before
        frame.write.parquet(f"{out}/batch={batch}")


writer = answer.writeStream.outputMode("update").option("checkpointLocation", mkdtemp()).foreachBatch(keep)
writer.trigger(availableNow=True).start().awaitTermination()
