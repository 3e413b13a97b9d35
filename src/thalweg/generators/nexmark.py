"""NEXMark's three streams: persons register, put items up for auction, and bid.

Of every 50 events one is a person, three are auctions and 46 are bids. An event's number n fixes everything:

    n      0       1 2 3     4 ... 49 | 50      51 52 53   54 ... 99 | ...
           person  auctions  bids     | person  auctions   bids      |

so the number i of a row determines n, and the persons and auctions that exist by then. A seller or bidder is one of
the last `active` persons; a bid goes to one of the last `active` auctions, all of which are still open: an auction
stays open for longer than `active` others take to arrive. A share `hot` of the rows names the same person or auction
for a while.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.time import SECOND
from thalweg.core.types import DataType
from thalweg.generators.draws import Draws
from thalweg.generators.tables import START, arrivals, named, row_numbers, tabulate

PERSONS, AUCTIONS, BIDS = 1, 3, 46
EVENTS = PERSONS + AUCTIONS + BIDS

_TIME, _INT, _TEXT = DataType.TIMESTAMP, DataType.BIGINT, DataType.STRING
PERSON = Schema.of(ts=_TIME, id=_INT, name=_TEXT, email=_TEXT, city=_TEXT, state=_TEXT)
AUCTION = Schema.of(
    ts=_TIME, id=_INT, item=_TEXT, category=_INT, initial_bid=_INT, reserve=_INT, seller=_INT, expires=_TIME
)
BID = Schema.of(ts=_TIME, auction=_INT, bidder=_INT, price=_INT)

_FIRST = pa.array(["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo", "Ines", "Jon", "Kim", "Lea"])
_LAST = pa.array(["Abel", "Brandt", "Cruz", "Diaz", "Engel", "Fox", "Gray", "Hart", "Ito", "Jung", "Keller", "Long"])
_CITIES = pa.array(["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Seattle", "Kent"])
_STATES = pa.array(["AZ", "CA", "CA", "ID", "OR", "OR", "WA", "WA"])
_THINGS = pa.array(["lamp", "clock", "violin", "chair", "camera", "map", "bicycle", "vase", "atlas", "kettle"])
_CATEGORIES = 5


def persons(seed: int, first_row: int, rows: int, rate: float = 1_000.0, *, start: int = START) -> pa.Table:
    """`rows` persons from the `first_row`-th on; `rate` counts events of all three streams a second."""
    ids = row_numbers(first_row, rows)
    draws = Draws(seed, ids * EVENTS)
    first = named(draws.below("first name", len(_FIRST)), _FIRST)
    last = named(draws.below("last name", len(_LAST)), _LAST)
    email = pc.utf8_lower(pc.binary_join_element_wise(first, last, pa.array(ids).cast(pa.string()), "."))
    city = draws.below("city", len(_CITIES))
    return tabulate(
        PERSON,
        (
            arrivals(draws, rate, start),
            ids,
            pc.binary_join_element_wise(first, last, " "),
            pc.binary_join_element_wise(email, "example.com", "@"),
            named(city, _CITIES),
            named(city, _STATES),
        ),
    )


def auctions(
    seed: int,
    first_row: int,
    rows: int,
    rate: float = 1_000.0,
    *,
    start: int = START,
    active: int = 100,
    hot: float = 0.5,
) -> pa.Table:
    """`rows` auctions from the `first_row`-th on; their sellers are persons who have registered."""
    ids = row_numbers(first_row, rows)
    draws = Draws(seed, ids // AUCTIONS * EVENTS + PERSONS + ids % AUCTIONS)
    ts = arrivals(draws, rate, start)
    bid = _price(draws, "initial bid")
    item = pc.binary_join_element_wise(
        named(draws.below("item", len(_THINGS)), _THINGS), pa.array(ids).cast(pa.string()), " "
    )
    shortest = (active // AUCTIONS + 3) * EVENTS * SECOND / rate
    return tabulate(
        AUCTION,
        (
            ts,
            ids,
            item,
            draws.below("category", _CATEGORIES),
            bid,
            bid + _price(draws, "reserve"),
            _recent(draws, "seller", draws.rows // EVENTS, active, hot),
            ts + np.ceil(shortest + draws.exponential("lifetime", shortest)).astype(np.int64),
        ),
    )


def bids(
    seed: int,
    first_row: int,
    rows: int,
    rate: float = 1_000.0,
    *,
    start: int = START,
    active: int = 100,
    hot: float = 0.5,
) -> pa.Table:
    """`rows` bids from the `first_row`-th on, by registered persons on open auctions of the same `active`."""
    numbers = row_numbers(first_row, rows)
    draws = Draws(seed, numbers // BIDS * EVENTS + PERSONS + AUCTIONS + numbers % BIDS)
    epoch = draws.rows // EVENTS
    return tabulate(
        BID,
        (
            arrivals(draws, rate, start),
            _recent(draws, "auction", epoch * AUCTIONS + AUCTIONS - 1, active, hot),
            _recent(draws, "bidder", epoch, active, hot),
            _price(draws, "price"),
        ),
    )


def _recent(draws: Draws, what: str, newest: Ints, active: int, hot: float) -> Ints:
    """One of the last `active` ids up to `newest`; with probability `hot` the id that is popular for the moment."""
    spread = newest - draws.below(what, np.minimum(newest + 1, active))
    popular = newest - newest % active
    return np.where(draws.uniform(f"{what} in fashion") < hot, popular, spread)


def _price(draws: Draws, what: str) -> Ints:
    """Prices from 1 to 10,000 dollars, in cents; all powers of ten are equally frequent."""
    return np.asarray(np.round(100.0 * 10.0 ** (4.0 * draws.uniform(what))).astype(np.int64))
