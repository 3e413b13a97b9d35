"""Pairs with the same key, less than 2 s apart."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Row(pw.Schema):
    ts: int
    k: int
    v: float


l, r = (pw.io.csv.read(f"{data}/headed/{name}", schema=Row, mode="static") for name in "lr")
near = pw.temporal.interval(-1999, 1999)
answer = l.interval_join(r, l.ts, r.ts, near, l.k == r.k).select(l.k, l.v, w=r.v)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
