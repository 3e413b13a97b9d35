"""By category, the average of the highest bids: what enters (1) and what leaves (-1)."""

import sys

from pyflink.table import EnvironmentSettings, TableEnvironment

data, out, cores = sys.argv[1:4]
tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
tables.get_config().set("parallelism.default", cores).set("table.local-time-zone", "UTC")
tables.execute_sql(f"""
    CREATE TABLE auction (
        ms BIGINT, id BIGINT, item STRING, category BIGINT, initial_bid BIGINT, reserve BIGINT, seller BIGINT,
        ends BIGINT,
        ts AS TO_TIMESTAMP_LTZ(ms, 3), expires AS TO_TIMESTAMP_LTZ(ends, 3), WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'filesystem', 'path' = '{data}/csv/auction', 'format' = 'csv')
""")
tables.execute_sql(f"""
    CREATE TABLE bid (
        ms BIGINT, auction BIGINT, bidder BIGINT, price BIGINT,
        ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts
    ) WITH ('connector' = 'filesystem', 'path' = '{data}/csv/bid', 'format' = 'csv')
""")
tables.execute_sql("""
    CREATE VIEW averages AS SELECT category, AVG(CAST(final AS DOUBLE)) AS price FROM (
        SELECT a.id, a.category, MAX(b.price) AS final FROM auction a JOIN bid b ON a.id = b.auction
        WHERE b.ts >= a.ts AND b.ts <= a.expires GROUP BY a.id, a.category
    ) GROUP BY category
""")
sink = "'blackhole'" if out == "-" else f"'filesystem', 'path' = '{out}', 'format' = 'csv'"
tables.execute_sql(f"CREATE TABLE answer (diff BIGINT, category BIGINT, price DOUBLE) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT CASE WHEN op IN ('DELETE', 'UPDATE_BEFORE') THEN -1 ELSE 1 END, category, price
    FROM TO_CHANGELOG(input => TABLE averages)
""").wait()
