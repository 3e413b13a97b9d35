"""Sales in euros, at the rate of the day of the sale, and at today's: the same join with two kinds of table.

    python examples/currency_rates.py

An NRR is met as it was when a row came; a relation looks back, so its changes also change what older rows join with.
"""

import thalweg as tw

s = tw.local()
s.execute("""
    CREATE STREAM sales (shop STRING, currency STRING, amount DOUBLE);
    CREATE NRR      rate_then (currency STRING PRIMARY KEY, rate DOUBLE);
    CREATE RELATION rate_now  (currency STRING PRIMARY KEY, rate DOUBLE);
""")
QUERY = """
    SELECT s.shop, ROUND(SUM(s.amount * r.rate), 2) AS euros
    FROM sales [RANGE 30] s JOIN {table} r ON s.currency = r.currency GROUP BY s.shop
"""
booked = s.query(QUERY.format(table="rate_then"), name="booked")
worth = s.query(QUERY.format(table="rate_now"), name="worth today")

for table in ("rate_then", "rate_now"):
    s.insert(table, [("usd", 0.90), ("gbp", 1.15)])
s.push("sales", [(1, "north", "usd", 100.0), (2, "south", "gbp", 50.0)])
for table in ("rate_then", "rate_now"):
    s.update(table, [("usd", 0.80)], at=10)
s.push("sales", [(11, "north", "usd", 100.0)])

for q in (booked, worth):
    print(f"{q.name} ({q.patterns.name})")
    for day in (5, 11):
        print(f"  day {day:2}: {q.answer(at=day)}")
s.advance(31)  # the sale of day 1 is thirty days old
print(f"day 31: booked {booked.answer()}, worth today {worth.answer()}")
