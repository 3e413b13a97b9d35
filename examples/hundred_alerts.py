"""A hundred alerts of ten users over one stream of quotes, in one flow: they share one pass, and come and go.

python examples/hundred_alerts.py
"""

import thalweg as tw
from thalweg import generators

s = tw.local()
s.execute("CREATE STREAM quotes (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT) TIMESTAMP BY ts")
flow = s.flow("alerts")
symbols = sorted({row["symbol"] for row in generators.make("quotes", seed=5, symbols=40).table(0, 500).to_pylist()})

for i in range(100):
    symbol, owner = symbols[i % len(symbols)], f"user{i % 10}"
    flow.add(
        f"SELECT ts, price, volume FROM quotes [RANGE 2 SECONDS] WHERE symbol = '{symbol}' AND volume > {i * 90}",
        name=f"{owner}: {symbol} over {i * 90}",
        owner=owner,
        quotas={"results_per_second": 200},
    )

made = generators.make("quotes", seed=5, rate=500, symbols=40)
s.push("quotes", made.table(0, 1_000).to_pylist())
ringing = [q for q in flow.queries() if q.results]
print(f"{len(flow.queries())} alerts, {len(ringing)} have rung")
for q in sorted(ringing, key=lambda q: -q.results)[:3]:
    print(f"  {q.name}: {q.results} times")

for q in flow.queries():  # a user leaves
    if q.owner == "user3":
        flow.drop(q.id)
late = flow.add("SELECT COUNT(*) AS n FROM quotes [RANGE 1 SECOND]", owner="user11", backfill=True)
print(f"{len(flow.queries())} alerts; a new one begins with what the flow holds: {flow.answer(late)}")

s.push("quotes", made.table(1_000, 500).to_pylist())
metrics = flow.metrics()
print(f"sharing has saved {100 * metrics.saved:.0f} % of the work; the flow holds {metrics.held} quotes")
