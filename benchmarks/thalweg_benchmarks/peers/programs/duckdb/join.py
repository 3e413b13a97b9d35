"""Pairs with the same key, less than 2 s apart: every 10 s those whose later row has come since."""

import sys
from datetime import timedelta

import duckdb

data, out, cores, slide = sys.argv[1:5]
database = duckdb.connect(config={"threads": cores})
for name in "lr":
    rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/{name}/*.parquet')"
    database.execute(f"CREATE TABLE {name} AS {rows}")
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM l").fetchall()[0]
ASKED = """
    SELECT l.k, l.v, r.v AS w FROM l JOIN r
    ON l.k = r.k AND r.ts > l.ts - INTERVAL 2 SECONDS AND r.ts < l.ts + INTERVAL 2 SECONDS
    WHERE l.ts >= $t - INTERVAL 12 SECONDS AND l.ts < $t AND r.ts >= $t - INTERVAL 12 SECONDS AND r.ts < $t
    AND GREATEST(l.ts, r.ts) >= $t - INTERVAL 10 SECONDS
"""
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
