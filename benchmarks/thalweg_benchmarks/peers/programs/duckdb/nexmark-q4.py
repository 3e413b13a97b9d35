"""By category, the average of the highest bids, asked again every 10 s."""

import sys
from datetime import timedelta

import duckdb

data, out, cores = sys.argv[1:4]
database = duckdb.connect(config={"threads": cores})
for name in ("auction", "bid"):
    rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/{name}/*.parquet')"
    database.execute(f"CREATE TABLE {name} AS {rows}")
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM auction").fetchall()[0]
ASKED = """
    SELECT category, AVG(final) AS price FROM (
        SELECT a.id, a.category, MAX(b.price) AS final FROM auction a JOIN bid b ON a.id = b.auction
        WHERE b.ts >= a.ts AND b.ts <= make_timestamp(epoch_us(a.expires))
        AND a.ts < $t AND b.ts < $t GROUP BY a.id, a.category
    ) GROUP BY category
"""
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/answer.parquet")
