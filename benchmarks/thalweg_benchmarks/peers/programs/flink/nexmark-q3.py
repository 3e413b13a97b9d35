"""Auctions of a category whose sellers live in three states."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE auction (
        ms BIGINT, id BIGINT, item STRING, category BIGINT, initial_bid BIGINT, reserve BIGINT, seller BIGINT,
        ends BIGINT,
        ts AS TO_TIMESTAMP_LTZ(ms, 3), expires AS TO_TIMESTAMP_LTZ(ends, 3), WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'filesystem', 'path' = '{data}/csv/auction', 'format' = 'csv')
""")
tables.execute_sql(f"""
    CREATE TABLE person (
        ms BIGINT, id BIGINT, name STRING, email STRING, city STRING, state STRING,
        ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'filesystem', 'path' = '{data}/csv/person', 'format' = 'csv')
""")
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(
    f"CREATE TABLE answer (name STRING, city STRING, state STRING, id BIGINT) WITH ('connector' = {sink})"
)
tables.execute_sql("""
    INSERT INTO answer
    SELECT name, city, state, a.id FROM auction a JOIN person p ON a.seller = p.id
    WHERE category = 3 AND state IN ('OR', 'ID', 'CA')
""").wait()
