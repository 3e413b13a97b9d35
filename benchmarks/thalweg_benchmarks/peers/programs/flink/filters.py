"""A thousand standing filters: a table to join with, a row for each value of a filter's first attribute."""

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.exec.state.ttl", "1 h")
tables.execute_sql(f"""
    CREATE TABLE s (ms BIGINT, id BIGINT, a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT)
    WITH ('connector' = 'filesystem', 'path' = '{data}/csv/s', 'format' = 'csv')
""")
filters = Path(mkdtemp(), "filters.csv")
with filters.open("w") as file:
    for number, (x, low, y, next_low) in enumerate(json.loads(Path(data, "filters.json").read_text())):
        file.writelines(f"{number},{x},{value},{y},{next_low}\n" for value in range(low, low + 20))
tables.execute_sql(f"""
    CREATE TABLE filters (q BIGINT, x STRING, x_value BIGINT, y STRING, y_low BIGINT)
    WITH ('connector' = 'filesystem', 'path' = '{filters}', 'format' = 'csv')
""")
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (q BIGINT, id BIGINT) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT /*+ STATE_TTL('unpivoted' = '10 s', 'filters' = '1 d') */ q, id FROM (
        SELECT s.*, its_name, its_value FROM s CROSS JOIN UNNEST(
            ARRAY[ROW('a', a), ROW('b', b), ROW('c', c), ROW('d', d), ROW('e', e)]
        ) AS pairs (its_name, its_value)
    ) AS unpivoted JOIN filters ON its_name = x AND its_value = x_value
    WHERE CASE y WHEN 'a' THEN a WHEN 'b' THEN b WHEN 'c' THEN c WHEN 'd' THEN d ELSE e END
    BETWEEN y_low AND y_low + 19
""").wait()
