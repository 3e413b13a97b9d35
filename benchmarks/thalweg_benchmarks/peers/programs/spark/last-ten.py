"""The last ten rows of each key: a state for each key, which is emitted as a whole with each batch that changes it."""

import pickle
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
    ten = pickle.loads(state.get[0]) if state.exists else []
    for frame in frames:
        newest = frame.nlargest(10, "ts")
        ten = sorted([*ten, *zip(newest["ts"], newest["v"])])[-10:]
    state.update((pickle.dumps(ten),))
    yield pd.DataFrame({"k": key[0], "v": [v for _, v in ten]})


keys = reader.parquet(f"{data}/parquet/s").groupBy("k")
answer = keys.applyInPandasWithState(last_ten, "k long, v double", "ten binary", "update", GroupStateTimeout.NoTimeout)


def keep(frame, batch):
    if out == "-":
        frame.write.format("noop").mode("overwrite").save()
    else:  # the newest rows of a key replace its older ones
        frame.write.parquet(f"{out}/batch={batch}")


writer = answer.writeStream.outputMode("update").option("checkpointLocation", mkdtemp()).foreachBatch(keep)
writer.trigger(availableNow=True).start().awaitTermination()
