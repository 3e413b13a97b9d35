"""Auctions of a category whose sellers live in three states: every 10 s those whose later row has come since."""

import sys
from datetime import timedelta

import duckdb

data, out, cores = sys.argv[1:4]
database = duckdb.connect(config={"threads": cores})
for name in ("auction", "person"):
    rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/{name}/*.parquet')"
    database.execute(f"CREATE TABLE {name} AS {rows}")
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM auction").fetchall()[0]
ASKED = """
    SELECT name, city, state, a.id FROM auction a JOIN person p ON a.seller = p.id
    WHERE category = 3 AND state IN ('OR', 'ID', 'CA') AND a.ts < $t AND p.ts < $t
    AND GREATEST(a.ts, p.ts) >= $t - INTERVAL 10 SECONDS
"""
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
