"""By seller, the average price of the last ten auctions that have ended, asked again every 10 s."""

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
    SELECT seller, AVG(final) AS price FROM (
        SELECT a.seller, MAX(b.price) AS final, a.expires
        FROM auction a JOIN bid b ON a.id = b.auction
        AND b.ts >= a.ts AND b.ts <= make_timestamp(epoch_us(a.expires)) AND b.ts < $t
        WHERE make_timestamp(epoch_us(a.expires)) <= (SELECT MAX(ts) FROM bid WHERE ts < $t)
        GROUP BY a.id, a.seller, a.expires
        QUALIFY ROW_NUMBER() OVER (PARTITION BY a.seller ORDER BY a.expires DESC, a.id DESC) <= 10
    ) GROUP BY seller
"""
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/answer.parquet")
