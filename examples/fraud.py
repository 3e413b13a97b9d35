"""A card that is used in two towns within ten minutes, and payments that no login came before.

    python examples/fraud.py

Two streams, three joins: of a stream with itself, of two streams within a window, and NOT EXISTS.
"""

import thalweg as tw

s = tw.local()
s.execute("""
    CREATE STREAM payments (ts TIMESTAMP, card INT, town STRING, amount INT) TIMESTAMP BY ts;
    CREATE STREAM logins (ts TIMESTAMP, card INT, device STRING) TIMESTAMP BY ts;
""")

# [NOW]: each new payment is compared with those of the last ten minutes. ISTREAM: a pair is emitted once, for good.
two_towns = s.query("""
    ISTREAM(SELECT b.card, a.town AS first, b.town AS second
            FROM payments [RANGE 10 MINUTES] a JOIN payments [NOW] b ON a.card = b.card AND a.town <> b.town)
""")
devices = s.query("""
    SELECT p.card, p.amount, l.device
    FROM payments [RANGE 5 MINUTES] p JOIN logins [RANGE 5 MINUTES] l ON p.card = l.card
""")
# With [RANGE 5 MINUTES] on payments too, a payment would show up when the login before it has left its window.
no_login = s.query("""
    ISTREAM(SELECT card, amount FROM payments [NOW] p
            WHERE NOT EXISTS (SELECT * FROM logins [RANGE 5 MINUTES] l WHERE l.card = p.card))
""")

s.push("logins", [("2026-01-31 09:00:00", 1, "phone"), ("2026-01-31 09:02:00", 2, "laptop")])
s.push("payments", [
    ("2026-01-31 09:01:00", 1, "Ulm", 20),
    ("2026-01-31 09:03:00", 2, "Kiel", 500),
    ("2026-01-31 09:07:00", 1, "Rom", 900),
    ("2026-01-31 09:20:00", 1, "Ulm", 30),
])  # fmt: skip
s.advance("2026-01-31 09:20:00")

for name, q in (("two towns", two_towns), ("devices", devices), ("no login", no_login)):
    print(f"{name} ({q.patterns.full_name})")
    for t, sign, row in q.changes():
        print(f"  {t:%H:%M:%S} {'+' if sign > 0 else '-'} {', '.join(map(str, row))}")
