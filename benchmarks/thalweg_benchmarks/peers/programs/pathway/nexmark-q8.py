"""Persons who registered and opened an auction within the same 10 s."""

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


class Person(pw.Schema):
    ts: int
    number: int
    name: str
    email: str
    city: str
    state: str


auction = pw.io.csv.read(f"{data}/headed/auction", schema=Auction, mode="static")
person = pw.io.csv.read(f"{data}/headed/person", schema=Person, mode="static")
tumbling = pw.temporal.tumbling(duration=10_000)
found = person.window_join(auction, person.ts, auction.ts, tumbling, person.number == auction.seller)
pairs = found.select(t=pw.this._pw_window_end, number=person.number, name=person.name)
answer = pairs.groupby(pairs.t, pairs.number, pairs.name).reduce(pairs.t, pairs.number, pairs.name)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
