"""Auctions of a category whose sellers live in three states."""

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
sellers = person.filter((person.state == "OR") | (person.state == "ID") | (person.state == "CA"))
some = auction.filter(auction.category == 3)
answer = some.join(sellers, some.seller == sellers.number).select(
    sellers.name, sellers.city, sellers.state, some.number
)
if out == "-":
    pw.io.null.write(answer)
else:
    pw.io.csv.write(answer, f"{out}/answer.csv")
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
