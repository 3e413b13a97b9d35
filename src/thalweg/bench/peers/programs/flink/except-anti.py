"""Keys of one stream that the other does not have, once a window of every 10 s has closed."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores, slide = sys.argv[1:5]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
for name in "lr":
    tables.execute_sql(f"""
        CREATE TABLE {name} (ms BIGINT, k BIGINT, v DOUBLE, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{data}/csv/{name}', 'format' = 'csv')
    """)
for name, condition in (("l", "TRUE"), ("r", "v < 25")):
    tables.execute_sql(f"""
        CREATE VIEW {name}_keys AS SELECT window_start, window_end, k
        FROM HOP(TABLE {name}, DESCRIPTOR(ts), INTERVAL '{slide}' SECOND, INTERVAL '60' SECOND)
        WHERE {condition} GROUP BY window_start, window_end, k
    """)
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (t TIMESTAMP(3), k BIGINT) WITH ('connector' = {sink})")
tables.execute_sql(f"""
    INSERT INTO answer
    SELECT window_end, k FROM l_keys
    WHERE NOT EXISTS (
        SELECT * FROM r_keys
        WHERE l_keys.window_start = r_keys.window_start AND l_keys.window_end = r_keys.window_end AND l_keys.k = r_keys.k
    )
""").wait()
