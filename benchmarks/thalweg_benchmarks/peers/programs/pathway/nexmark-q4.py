"""By category, the average of the highest bids."""

import sys

import pathway as pw

data, out, cores = sys.argv[1:4]


class Auction(pw.Schema):
    ts: int
    number: int
    item: str
    category: int
    initial_bid: int
    reserve: int
    seller: int
    expires: int


class Bid(pw.Schema):
    ts: int
    auction: int
    bidder: int
    price: int


auction = pw.io.csv.read(f"{data}/headed/auction", schema=Auction, mode="static")
bid = pw.io.csv.read(f"{data}/headed/bid", schema=Bid, mode="static")
bids = auction.join(bid, auction.number == bid.auction)
bids = bids.select(auction.number, auction.category, bid.price, at=bid.ts, since=auction.ts, until=auction.expires)
bids = bids.filter((bids.at >= bids.since) & (bids.at <= bids.until))
highest = bids.groupby(bids.number, bids.category).reduce(bids.category, final=pw.reducers.max(bids.price))
answer = highest.groupby(highest.category).reduce(highest.category, price=pw.reducers.avg(highest.final))
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
