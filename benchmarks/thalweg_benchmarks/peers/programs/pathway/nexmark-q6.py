"""By seller, the average price of the last ten auctions that have ended."""

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


@pw.udf
def average_of_last(prices: tuple) -> float:
    last = [price for _, _, price in prices[-10:]]
    return sum(last) / len(last)


auction = pw.io.csv.read(f"{data}/headed/auction", schema=Auction, mode="static")
bid = pw.io.csv.read(f"{data}/headed/bid", schema=Bid, mode="static")
bids = auction.join(bid, auction.number == bid.auction).select(
    auction.number, auction.seller, auction.expires, bid.price, at=bid.ts, since=auction.ts
)
bids = bids.filter((bids.at >= bids.since) & (bids.at <= bids.expires))
highest = bids.groupby(bids.number, bids.seller, bids.expires).reduce(
    bids.number, bids.seller, bids.expires, final=pw.reducers.max(bids.price)
)
now = bid.reduce(now=pw.reducers.max(bid.ts))
ended = highest.join(now, id=highest.id).select(*highest, now.now)
ended = ended.filter(ended.expires <= ended.now)
prices = ended.groupby(ended.seller).reduce(
    ended.seller, prices=pw.reducers.sorted_tuple(pw.make_tuple(ended.expires, ended.number, ended.final))
)
answer = prices.select(prices.seller, price=average_of_last(prices.prices))
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
