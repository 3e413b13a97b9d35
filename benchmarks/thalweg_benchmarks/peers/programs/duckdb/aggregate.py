"""Count and sum of the last 60 s by key, asked again at each slide."""

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
    SELECT $t AS t, k, COUNT(*) AS n, SUM(v) AS total FROM s
    WHERE ts >= $t - INTERVAL 60 SECONDS AND ts < $t GROUP BY k
"""
while (end := end + timedelta(seconds=int(slide))) <= last:
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
