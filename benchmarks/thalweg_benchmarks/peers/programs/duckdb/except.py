"""Keys of one stream that the other does not have, asked again at each slide."""

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
    SELECT $t AS t, k FROM l WHERE ts >= $t - INTERVAL 60 SECONDS AND ts < $t
    EXCEPT SELECT $t, k FROM r WHERE ts >= $t - INTERVAL 60 SECONDS AND ts < $t AND v < 25
"""
while (end := end + timedelta(seconds=int(slide))) <= last:
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
