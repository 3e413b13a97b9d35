"""The highest bids of each 10 s."""

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
    SELECT $t AS t, auction, bidder, price FROM bid WHERE ts >= $t - INTERVAL 10 SECONDS AND ts < $t
    QUALIFY price = MAX(price) OVER ()
"""
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
