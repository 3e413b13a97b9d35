"""The highest bids of each 10 s."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Bid(pw.Schema):
    ts: int
    auction: int
    bidder: int
    price: int


bid = pw.io.csv.read(f"{data}/headed/bid", schema=Bid, mode="static")
windows = bid.windowby(bid.ts, window=pw.temporal.tumbling(duration=10_000))
highest = windows.reduce(t=pw.this._pw_window_end, price=pw.reducers.max(pw.this.price))
dated = bid.with_columns(t=bid.ts // 10_000 * 10_000 + 10_000)
found = dated.join(highest, dated.t == highest.t, dated.price == highest.price)
answer = found.select(dated.t, dated.auction, dated.bidder, dated.price)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
