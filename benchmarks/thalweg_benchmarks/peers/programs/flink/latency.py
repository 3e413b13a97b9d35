"""The last ten rows of each key, of rows that come one by one; what enters is printed."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE s (ms BIGINT, k BIGINT, v DOUBLE, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{data}', 'format' = 'csv', 'source.monitor-interval' = '10 ms')
""")
tables.execute_sql("CREATE TABLE answer (seen STRING, k BIGINT, v DOUBLE) WITH ('connector' = 'print')")
tables.execute_sql("""
    INSERT INTO answer
    SELECT 'seen', k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS place FROM s)
    WHERE place <= 10
""").wait()
