"""A thousand standing filters: each tried on each row."""

import json
import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE s (ms BIGINT, id BIGINT, a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT)
    WITH ('connector' = 'filesystem', 'path' = '{data}/csv/s', 'format' = 'csv')
""")
tried = ", ".join(
    f"CASE WHEN {x} >= {low} AND {x} < {low + 20} AND {y} >= {next_low} AND {y} < {next_low + 20} THEN {number} END"
    for number, (x, low, y, next_low) in enumerate(json.loads(Path(data, "filters.json").read_text()))
)
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (q BIGINT, id BIGINT) WITH ('connector' = {sink})")
tables.execute_sql(f"""
    INSERT INTO answer
    SELECT q, id FROM s CROSS JOIN UNNEST(ARRAY[{tried}]) AS tried (q) WHERE q IS NOT NULL
""").wait()
