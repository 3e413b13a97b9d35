"""A thousand filters, asked again every 10 s over the rows that have come since."""

import sys
from datetime import timedelta

import duckdb

data, out, cores = sys.argv[1:4]
database = duckdb.connect(config={"threads": cores})
rows = f"SELECT * REPLACE (make_timestamp(epoch_us(ts)) AS ts) FROM read_parquet('{data}/parquet/s/*.parquet')"
database.execute(f"CREATE TABLE s AS {rows}")
database.execute(f"""
    CREATE TABLE filters AS
    SELECT ordinality - 1 AS q, f ->> 0 AS x, (f -> 1)::BIGINT AS x_low, f ->> 2 AS y, (f -> 3)::BIGINT AS y_low
    FROM (SELECT content::JSON[] AS list FROM read_text('{data}/filters.json')),
    UNNEST(list) WITH ORDINALITY AS _ (f, ordinality)
""")
value = "CASE {0} " + " ".join(f"WHEN '{name}' THEN {name}" for name in "abcde") + " END"
x, y = value.format("x"), value.format("y")
ASKED = f"""
    SELECT q, id FROM s JOIN filters
    ON {x} >= x_low AND {x} < x_low + 20 AND {y} >= y_low AND {y} < y_low + 20
    WHERE ts >= $t - INTERVAL 10 SECONDS AND ts < $t
"""
end, last = database.sql("SELECT date_trunc('minute', MIN(ts)), MAX(ts) FROM s").fetchall()[0]
while end <= last:
    end += timedelta(seconds=10)
    answer = database.sql(ASKED, params={"t": end}).to_arrow_table()
    if out != "-":
        database.sql("FROM answer").write_parquet(f"{out}/{end:%j%H%M%S}.parquet")
