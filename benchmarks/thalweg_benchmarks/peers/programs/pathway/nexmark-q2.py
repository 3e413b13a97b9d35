"""Bids on some auctions."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Bid(pw.Schema):
    ts: int
    auction: int
    bidder: int
    price: int


bid = pw.io.csv.read(f"{data}/headed/bid", schema=Bid, mode="static")
answer = bid.filter(pw.this.auction % 123 == 0).select(pw.this.auction, pw.this.price)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
