"""The auctions with most bids of the last 10 s, asked again every 2 s."""

import sys
from datetime import timedelta

import duckdb

data, out, cores = sys.argv[1:4]
database = duckdb.connect(config={"threads": cores})
for name in ("bid",):
    rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/{name}/*.parquet')"
    database.execute(f"CREATE TABLE {name} AS {rows}")
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM bid").fetchall()[0]
ASKED = """
    SELECT $t AS t, auction, COUNT(*) AS n FROM bid WHERE ts >= $t - INTERVAL 10 SECONDS AND ts < $t
    GROUP BY auction QUALIFY n = MAX(n) OVER ()
"""
while end <= last:
    end += timedelta(seconds=2)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
