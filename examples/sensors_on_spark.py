"""Sensors on Spark: a generator as the source, a table of a database that always holds the present answer as the sink.

    python examples/sensors_on_spark.py

Run it twice: the second time it goes on where the first has stopped. `rm -r state sensors.db` begins anew.
"""

import sqlite3

import thalweg as tw

engine = tw.Engine(shards=2)  # starts a local Spark; tw.Engine(spark) takes yours
source = tw.sources.generator(engine.spark, "sensors", rows=20_000, rate=1_000, sensors=50, rows_per_batch=10_000)
engine.stream("readings", source, timestamp="ts", ahead=None)  # made up: the system's clock says nothing about it

query = engine.query("""
    SELECT sensor, COUNT(*) AS readings, MAX(temperature) AS hottest
    FROM readings [RANGE 5 SECONDS SLIDE 1 SECOND] GROUP BY sensor HAVING MAX(temperature) > 16
""")
table = tw.sinks.TableSink(tw.sinks.sqlite("sensors.db"), "hot")
run = query.start("state", sink=table, trigger={"availableNow": True})  # all that is there, then end
run.wait_until_done()

metrics = run.metrics()
print(f"up to {metrics.now}: batch {metrics.batch}, {metrics.stored:,} tuples held")
with sqlite3.connect("sensors.db") as database:
    hot = database.execute("SELECT sensor, hottest FROM hot ORDER BY hottest DESC, sensor").fetchall()
print(f"{len(hot)} hot sensors, hottest first: {hot[:3]}")
engine.spark.stop()
