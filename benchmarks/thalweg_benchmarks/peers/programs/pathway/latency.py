"""The last ten rows of each key, of rows that come one by one; what enters is printed."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Row(pw.Schema):
    ts: int
    k: int
    v: float


s = pw.io.csv.read(data, schema=Row, mode="streaming", autocommit_duration_ms=10)


@pw.reducers.stateful_many
def last_ten(ten, rows):
    more = [(ts, v) for (ts, v), _ in rows]
    return tuple(sorted([*(ten or ()), *more])[-10:])


def show(key, row, time, is_addition):
    if is_addition:
        print("seen", row["v"], flush=True)


kept = s.groupby(s.k).reduce(s.k, ten=last_ten(s.ts, s.v)).flatten(pw.this.ten)
pw.io.subscribe(kept.select(pw.this.k, v=pw.this.ten[1]), show)
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
