"""Bids on some auctions."""

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
tables.execute_sql(f"CREATE TABLE answer (auction BIGINT, price BIGINT) WITH ('connector' = {sink})")
tables.execute_sql("""
    INSERT INTO answer
    SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0
""").wait()
