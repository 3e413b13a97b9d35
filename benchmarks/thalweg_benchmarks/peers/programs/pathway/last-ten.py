"""The last ten rows of each key."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Row(pw.Schema):
    ts: int
    k: int
    v: float


s = pw.io.csv.read(f"{data}/headed/s", schema=Row, mode="static")


@pw.reducers.stateful_many
def last_ten(ten, rows):
    more = [(ts, v) for (ts, v), _ in rows]
    return tuple(sorted([*(ten or ()), *more])[-10:])


kept = s.groupby(s.k).reduce(s.k, ten=last_ten(s.ts, s.v)).flatten(pw.this.ten)
answer = kept.select(pw.this.k, v=pw.this.ten[1])
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
