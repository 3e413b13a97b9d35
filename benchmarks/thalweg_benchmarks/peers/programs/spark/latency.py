"""The last ten rows of each key, of rows that come one by one; what enters is printed."""

import pickle
import sys
from tempfile import mkdtemp

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming.state import GroupStateTimeout

data, out, cores = sys.argv[1:4]
builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()


def last_ten(key, frames, state):
    ten = pickle.loads(state.get[0]) if state.exists else []
    for frame in frames:
        newest = frame.nlargest(10, "ms")
        ten = sorted([*ten, *zip(newest["ms"], newest["v"])])[-10:]
    state.update((pickle.dumps(ten),))
    yield pd.DataFrame({"k": key[0], "v": [v for _, v in ten]})


keys = spark.readStream.schema("ms long, k long, v double").csv(data).groupBy("k")
answer = keys.applyInPandasWithState(last_ten, "k long, v double", "ten binary", "update", GroupStateTimeout.NoTimeout)


def show(frame, batch):
    for row in frame.collect():
        print("seen", row.v, flush=True)


writer = answer.writeStream.outputMode("update").option("checkpointLocation", mkdtemp()).foreachBatch(show)
writer.start().awaitTermination()
