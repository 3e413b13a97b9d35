"""The keys of the last 60 s, in windows of every 10 s."""

import sys

import pathway as pw

data, out, cores, slide = sys.argv[1:5]


class Row(pw.Schema):
    ts: int
    k: int
    v: float


s = pw.io.csv.read(f"{data}/headed/s", schema=Row, mode="static")
sliding = pw.temporal.sliding(hop=1000 * int(slide), duration=60_000)
answer = s.windowby(s.ts, window=sliding, instance=s.k).reduce(t=pw.this._pw_window_end, k=pw.this._pw_instance)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
