"""Combinations of six streams with one key, within 12 s."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
for name in "abcdef":
    tables.execute_sql(f"""
        CREATE TABLE {name} (ms BIGINT, k BIGINT, v BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{data}/csv/{name}', 'format' = 'csv')
    """)
joins = "a"
for place, name in enumerate("bcdef", start=1):
    near = "".join(
        f" AND {name}.ts > {other}.ts - INTERVAL '12' SECOND AND {name}.ts < {other}.ts + INTERVAL '12' SECOND"
        for other in "abcdef"[:place]
    )
    joins += f" JOIN {name} ON a.k = {name}.k{near}"
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
columns = "k BIGINT, a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT, f BIGINT"
tables.execute_sql(f"CREATE TABLE answer ({columns}) WITH ('connector' = {sink})")
tables.execute_sql(f"""
    INSERT INTO answer
    SELECT a.k, a.v, b.v, c.v, d.v, e.v, f.v FROM {joins}
""").wait()
