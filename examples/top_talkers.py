"""Who has sent most in the last ten seconds? A standing query in this process, asked once a second.

    python examples/top_talkers.py

Nothing but Thalweg is needed: rows come from a generator, and the clock follows them.
"""

from datetime import datetime, timedelta

import thalweg as tw
from thalweg import generators

SECONDS, RATE = 20, 200

s = tw.local()
s.execute("CREATE STREAM calls (ts TIMESTAMP, src STRING, bytes INT) TIMESTAMP BY ts")
top = s.query("""
    SELECT src, COUNT(*) AS calls, SUM(bytes) AS total
    FROM calls [RANGE 10 SECONDS]
    GROUP BY src ORDER BY total DESC LIMIT 3
""")

rows = generators.make("connections", seed=1, rate=RATE, hosts=30).table(0, SECONDS * RATE)
s.push("calls", rows.select(["ts", "src", "bytes"]).to_pylist())

start = datetime(2026, 1, 1)
before: set[str] = set()
for second in range(5, SECONDS, 5):
    now = start + timedelta(seconds=second)
    print(f"{now:%H:%M:%S}")
    answer = sorted(top.answer(at=now), key=lambda row: -row[2])
    for src, calls, total in answer:
        print(f"  {'+' if src not in before else ' '} {src:12}{calls:5} calls{total:14,} bytes")
    before = {src for src, _, _ in answer}

changes = top.changes()
print(f"{len(changes)} changes; the answer is exact after each of them")
