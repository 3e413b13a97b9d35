"""The highest bids of each 10 s."""

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
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(
    f"CREATE TABLE answer (t TIMESTAMP(3), auction BIGINT, bidder BIGINT, price BIGINT) WITH ('connector' = {sink})"
)
tables.execute_sql("""
    INSERT INTO answer
    SELECT window_end, auction, bidder, b.price FROM bid b JOIN (
        SELECT window_time, window_start, window_end, MAX(price) AS price
        FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_time, window_start, window_end
    ) m ON b.price = m.price AND b.ts BETWEEN m.window_time - INTERVAL '10' SECOND AND m.window_time
""").wait()
