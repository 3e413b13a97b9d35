"""The last ten rows of each key: what enters (1) and what leaves (-1)."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE s (ms BIGINT, k BIGINT, v DOUBLE, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{data}/csv/s', 'format' = 'csv')
""")
tables.execute_sql("""
    CREATE VIEW ten AS SELECT k, v FROM (
        SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS place FROM s
    ) WHERE place <= 10
""")
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (diff BIGINT, k BIGINT, v DOUBLE) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT CASE WHEN op = 'DELETE' THEN -1 ELSE 1 END, k, v FROM TO_CHANGELOG(input => TABLE ten)
""").wait()
