"""The last ten rows of each key: every 10 s from the last ten so far and what has come since."""

import sys
from datetime import timedelta

import duckdb

data, out, cores, slide = sys.argv[1:5]
database = duckdb.connect(config={"threads": cores})
for name in ("s",):
    rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/{name}/*.parquet')"
    database.execute(f"CREATE TABLE {name} AS {rows}")
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM s").fetchall()[0]
ASKED = """
    CREATE OR REPLACE TABLE ten AS
    FROM (FROM ten UNION ALL FROM s WHERE ts >= $t - INTERVAL 10 SECONDS AND ts < $t)
    QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) <= 10
"""
database.execute("CREATE TABLE ten AS FROM s LIMIT 0")
while end <= last:
    end += timedelta(seconds=10)
    database.execute(ASKED, {"t": end})
if out != "-":
    database.sql("SELECT k, v FROM ten").write_parquet(f"{out}/ten.parquet")
