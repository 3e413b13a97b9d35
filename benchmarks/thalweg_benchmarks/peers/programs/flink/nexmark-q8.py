"""Persons who registered and opened an auction within the same 10 s."""

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
tables.execute_sql(f"CREATE TABLE answer (t TIMESTAMP(3), id BIGINT, name STRING) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT p.window_end, id, name FROM (
        SELECT window_start, window_end, id, name
        FROM TUMBLE(TABLE person, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, id, name
    ) p JOIN (
        SELECT window_start, window_end, seller
        FROM TUMBLE(TABLE auction, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, seller
    ) a ON p.window_start = a.window_start AND p.window_end = a.window_end AND id = seller
""").wait()
