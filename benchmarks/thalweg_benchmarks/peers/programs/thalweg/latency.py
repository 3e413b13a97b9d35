"""The last ten rows of each key, of rows that come one by one; what enters is printed."""

import sys
from tempfile import mkdtemp

import thalweg as tw
from thalweg.runtime.spark.api.local_spark import local_spark

data, out, cores = sys.argv[1:4]


class Printing:
    def write(self, changes, batch):
        for row in changes.where("_sign > 0").collect():
            print("seen", row.v, flush=True)


engine = tw.Engine(local_spark(cores), shards=int(cores))
rows = engine.spark.readStream.schema("ms long, k long, v double").csv(data)
engine.stream("s", rows.selectExpr("timestamp_millis(ms) AS ts", "k", "v"))
engine.query("SELECT k, v FROM s [PARTITION BY k ROWS 10]").start(mkdtemp(), sink=Printing()).query.awaitTermination()
