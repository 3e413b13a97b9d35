"""The keys of the last 60 s, once a window of every 10 s has closed."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores, slide = sys.argv[1:5]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE s (ms BIGINT, k BIGINT, v DOUBLE, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{data}/csv/s', 'format' = 'csv')
""")
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (t TIMESTAMP(3), k BIGINT) WITH ('connector' = {sink})")
tables.execute_sql(f"""
    INSERT INTO answer
    SELECT window_end, k
    FROM HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '{slide}' SECOND, INTERVAL '60' SECOND)
    GROUP BY window_start, window_end, k
""").wait()
