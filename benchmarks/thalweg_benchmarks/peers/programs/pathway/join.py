"""Pairs with the same key, less than 2 s apart."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Row(pw.Schema):
    ts: int
    k: int
    v: float


left, right = (pw.io.csv.read(f"{data}/headed/{name}", schema=Row, mode="static") for name in "lr")
near = pw.temporal.interval(-1999, 1999)
answer = left.interval_join(right, left.ts, right.ts, near, left.k == right.k).select(left.k, left.v, w=right.v)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
