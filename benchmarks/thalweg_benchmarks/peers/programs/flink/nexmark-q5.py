"""The auctions with most bids of the last 10 s, every 2 s."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE bid (
        ms BIGINT, auction BIGINT, bidder BIGINT, price BIGINT,
        ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'filesystem', 'path' = '{data}/csv/bid', 'format' = 'csv')
""")
tables.execute_sql("""
    CREATE VIEW counts AS SELECT window_start, window_end, auction, COUNT(*) AS n
    FROM HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
    GROUP BY window_start, window_end, auction
""")
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (t TIMESTAMP(3), auction BIGINT, n BIGINT) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT c.window_end, auction, c.n FROM counts c
    JOIN (SELECT window_start, window_end, MAX(n) AS n FROM counts GROUP BY window_start, window_end) m
    ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.n = m.n
""").wait()
