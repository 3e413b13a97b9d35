"""Combinations of six streams with one key, within 12 s."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Row(pw.Schema):
    ts: int
    k: int
    v: int


near = pw.temporal.interval(-11_999, 11_999)
answer = None
for name in "abcdef":
    stream = pw.io.csv.read(f"{data}/headed/{name}", schema=Row, mode="static")
    stream = stream.select(k=stream.k, first=stream.ts, last=stream.ts, **{name: stream.v})
    if answer is None:
        answer = stream
        continue
    pairs = answer.interval_join(stream, answer.first, stream.first, near, answer.k == stream.k)
    seen = [answer[column] for column in answer.column_names() if column in "abcdef"]
    answer = pairs.select(
        answer.k,
        *seen,
        stream[name],
        first=pw.if_else(answer.first < stream.first, answer.first, stream.first),
        last=pw.if_else(answer.last > stream.last, answer.last, stream.last),
    )
    answer = answer.filter(answer.last - answer.first < 12_000)
answer = answer.without(answer.first, answer.last)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
