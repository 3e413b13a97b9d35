"""Keys of one stream that the other does not have, in windows of every 10 s."""

import sys

import pathway as pw

data, out, cores, slide = sys.argv[1:5]


class Row(pw.Schema):
    ts: int
    k: int
    v: float


left, right = (pw.io.csv.read(f"{data}/headed/{name}", schema=Row, mode="static") for name in "lr")
sliding = pw.temporal.sliding(hop=1000 * int(slide), duration=60_000)
both = pw.Table.concat_reindex(
    left.select(pw.this.ts, pw.this.k, taken=0), right.filter(right.v < 25).select(pw.this.ts, pw.this.k, taken=1)
)
windows = both.windowby(both.ts, window=sliding, instance=both.k).reduce(
    t=pw.this._pw_window_end, k=pw.this._pw_instance, taken=pw.reducers.max(pw.this.taken)
)
answer = windows.filter(windows.taken == 0).select(pw.this.t, pw.this.k)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
