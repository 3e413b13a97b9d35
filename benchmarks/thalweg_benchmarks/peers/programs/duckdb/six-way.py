"""Combinations of six streams with one key, within 12 s: every 10 s those whose last row has come since."""

import sys
from datetime import timedelta

import duckdb

data, out, cores = sys.argv[1:4]
database = duckdb.connect(config={"threads": cores})
for name in ("a", "b", "c", "d", "e", "f"):
    rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/{name}/*.parquet')"
    database.execute(f"CREATE TABLE {name} AS {rows}")
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM a").fetchall()[0]
ASKED = """
    SELECT a.k, a.v AS a, b.v AS b, c.v AS c, d.v AS d, e.v AS e, f.v AS f FROM a
    JOIN b ON b.k = a.k AND b.ts >= $t - INTERVAL 22 SECONDS AND b.ts < $t
    JOIN c ON c.k = a.k AND c.ts >= $t - INTERVAL 22 SECONDS AND c.ts < $t
    JOIN d ON d.k = a.k AND d.ts >= $t - INTERVAL 22 SECONDS AND d.ts < $t
    JOIN e ON e.k = a.k AND e.ts >= $t - INTERVAL 22 SECONDS AND e.ts < $t
    JOIN f ON f.k = a.k AND f.ts >= $t - INTERVAL 22 SECONDS AND f.ts < $t
    WHERE a.ts >= $t - INTERVAL 22 SECONDS AND a.ts < $t
    AND GREATEST(a.ts, b.ts, c.ts, d.ts, e.ts, f.ts) >= $t - INTERVAL 10 SECONDS
    AND GREATEST(a.ts, b.ts, c.ts, d.ts, e.ts, f.ts) - LEAST(a.ts, b.ts, c.ts, d.ts, e.ts, f.ts) < INTERVAL 12 SECONDS
"""
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
