"""The auctions with most bids of the last 10 s, every 2 s."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Bid(pw.Schema):
    ts: int
    auction: int
    bidder: int
    price: int


bid = pw.io.csv.read(f"{data}/headed/bid", schema=Bid, mode="static")
sliding = pw.temporal.sliding(hop=2_000, duration=10_000)
counts = bid.windowby(bid.ts, window=sliding, instance=bid.auction).reduce(
    t=pw.this._pw_window_end, auction=pw.this._pw_instance, n=pw.reducers.count()
)
most = counts.groupby(counts.t).reduce(counts.t, n=pw.reducers.max(counts.n))
answer = counts.join(most, counts.t == most.t, counts.n == most.n).select(counts.t, counts.auction, counts.n)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
