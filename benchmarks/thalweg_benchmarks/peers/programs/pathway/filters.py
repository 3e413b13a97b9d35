"""A thousand standing filters: each tried on each row."""

import json
import sys
from pathlib import Path

import numpy as np
import pathway as pw

data, out, cores = sys.argv[1:4]
x, low, y, next_low = map(np.array, zip(*json.loads(Path(data, "filters.json").read_text())))
x, y = np.searchsorted(list("abcde"), x), np.searchsorted(list("abcde"), y)


class Row(pw.Schema):
    number: int
    a: int
    b: int
    c: int
    d: int
    e: int


@pw.udf
def wanted_by(a: int, b: int, c: int, d: int, e: int) -> list[int]:
    values = np.array([a, b, c, d, e])
    first, second = values[x] - low, values[y] - next_low
    return np.flatnonzero((first >= 0) & (first < 20) & (second >= 0) & (second < 20)).tolist()


s = pw.io.csv.read(f"{data}/headed/s", schema=Row, mode="static")
answer = s.select(q=wanted_by(s.a, s.b, s.c, s.d, s.e), number=s.number).flatten(pw.this.q)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
