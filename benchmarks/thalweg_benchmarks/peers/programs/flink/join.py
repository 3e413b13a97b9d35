"""Pairs with the same key, less than 2 s apart."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
for name in "lr":
    tables.execute_sql(f"""
        CREATE TABLE {name} (ms BIGINT, k BIGINT, v DOUBLE, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{data}/csv/{name}', 'format' = 'csv')
    """)
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (k BIGINT, v DOUBLE, w DOUBLE) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT l.k, l.v, r.v FROM l JOIN r
    ON l.k = r.k AND l.ts > r.ts - INTERVAL '2' SECOND AND l.ts < r.ts + INTERVAL '2' SECOND
""").wait()
