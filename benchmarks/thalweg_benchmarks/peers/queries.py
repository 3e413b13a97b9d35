"""The queries of `thalweg bench peers`: in words, and as DuckDB's SQL over all rows, which gives the expected rows.

`shape` says which rows of a changing answer are compared:

- `at`: the rows at every instant of the table `instants`; the instant is their first column;
- `all`: all rows that the answer ever had, for answers that only grow;
- `final`: the rows after the last input row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from thalweg_benchmarks.peers.streams import ATTRIBUTES, FILTERS, SIX, filters

Shape = Literal["at", "all", "final"]


@dataclass(frozen=True)
class PeerQuery:
    """A query. A timed run has up to `rows` rows of all its streams; the run that compares rows has `compared`."""

    name: str
    asks: str
    workload: str
    shape: Shape
    columns: tuple[str, ...]
    expected: str  # DuckDB's SQL over the streams and `instants`
    rows: int
    compared: int
    rows_of_file: int  # of all streams together; a micro-batch has four files of each, or sixteen


_WINDOW = "s.ts >= t - INTERVAL 60 SECONDS AND s.ts < t"
_LEFT, _RIGHT = _WINDOW.replace("s.", "l."), _WINDOW.replace("s.", "r.")

_KEYED = (
    PeerQuery(
        "aggregate",
        "count and sum of the last 60 s by key, every 10 s",
        "one", "at", ("t", "k", "n", "total"),
        f"SELECT t, k, COUNT(*) AS n, SUM(v) AS total FROM instants JOIN s ON {_WINDOW} GROUP BY t, k",
        16_000_000, 200_000, 250_000,
    ),
    PeerQuery(
        "join",
        "pairs with the same key, less than 2 s apart",
        "two", "all", ("k", "v", "w"),
        "SELECT l.k, l.v, r.v AS w FROM l JOIN r ON l.k = r.k"
        " AND r.ts > l.ts - INTERVAL 2 SECONDS AND r.ts < l.ts + INTERVAL 2 SECONDS",
        4_000_000, 60_000, 100_000,
    ),
    PeerQuery(
        "distinct",
        "the keys of the last 60 s",
        "one", "at", ("t", "k"),
        f"SELECT DISTINCT t, k FROM instants JOIN s ON {_WINDOW}",
        16_000_000, 200_000, 250_000,
    ),
    PeerQuery(
        "except",
        "the keys of the last 60 s of one stream that no row of the other with v < 25 has",
        "two", "at", ("t", "k"),
        f"SELECT t, k FROM instants JOIN l ON {_LEFT} EXCEPT SELECT t, k FROM instants JOIN r ON {_RIGHT} WHERE v < 25",
        16_000_000, 400_000, 250_000,
    ),
    PeerQuery(
        "last-ten",
        "the last ten rows of each key",
        "one", "final", ("k", "v"),
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS place FROM s)"
        " WHERE place <= 10",
        16_000_000, 200_000, 250_000,
    ),
)  # fmt: skip

_SIX_WINDOW = 12  # seconds; about as many rows of a stream as there are keys


def _six() -> str:
    """Combinations of six rows with one key, no two of them further apart than the window."""
    joins = [SIX[0]]
    for place, name in enumerate(SIX[1:], start=1):
        near = " AND ".join(
            f"{name}.ts > {other}.ts - INTERVAL {_SIX_WINDOW} SECONDS"
            f" AND {name}.ts < {other}.ts + INTERVAL {_SIX_WINDOW} SECONDS"
            for other in SIX[:place]
        )
        joins.append(f"JOIN {name} ON {name}.k = a.k AND {near}")
    return "SELECT a.k, " + ", ".join(f"{name}.v AS {name}" for name in SIX) + " FROM " + " ".join(joins)


def _filtered() -> str:
    wanted = ", ".join(f"({i}, '{a}', {low}, '{b}', {next_low})" for i, (a, low, b, next_low) in enumerate(filters()))
    value = "CASE {0} " + " ".join(f"WHEN '{name}' THEN s.{name}" for name in ATTRIBUTES) + " END"
    first, second = value.format("x"), value.format("y")
    return (
        f"SELECT q, id FROM s JOIN (VALUES {wanted}) wanted(q, x, x_low, y, y_low)"
        f" ON {first} >= x_low AND {first} < x_low + 20 AND {second} >= y_low AND {second} < y_low + 20"
    )


_OTHERS = (
    PeerQuery(
        "six-way",
        f"combinations of six streams with one key, within {_SIX_WINDOW} s",
        "six", "all", ("k", *SIX), _six(), 2_000_000, 60_000, 60_000,
    ),
    PeerQuery(
        "filters",
        f"{FILTERS:,} standing filters: for each row those that want it",
        "attributes", "all", ("q", "id"), _filtered(), 4_000_000, 50_000, 200_000,
    ),
)  # fmt: skip

_FINAL = (
    "SELECT a.id, a.category, MAX(b.price) AS final FROM auction a JOIN bid b ON a.id = b.auction"
    " AND b.ts >= a.ts AND b.ts <= a.expires GROUP BY a.id, a.category"
)
_TEN = "ts >= t - INTERVAL 10 SECONDS AND ts < t"


def _nexmark(number: int, asks: str, shape: Shape, columns: tuple[str, ...], expected: str) -> PeerQuery:
    return PeerQuery(f"nexmark-q{number}", asks, "nexmark", shape, columns, expected, 4_000_000, 200_000, 250_000)


_NEXMARK = (
    _nexmark(
        1, "bids with their prices in euros", "all", ("auction", "bidder", "price"),
        "SELECT auction, bidder, 0.908::DOUBLE * price AS price FROM bid",
    ),
    _nexmark(
        2, "bids on some auctions", "all", ("auction", "price"),
        "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    ),
    _nexmark(
        3, "auctions of a category whose sellers live in three states", "all", ("name", "city", "state", "id"),
        "SELECT name, city, state, a.id FROM auction a JOIN person p ON a.seller = p.id"
        " WHERE category = 3 AND state IN ('OR', 'ID', 'CA')",
    ),
    _nexmark(
        4, "by category, the average of the highest bids", "final", ("category", "price"),
        f"SELECT category, AVG(final) AS price FROM ({_FINAL}) GROUP BY category",
    ),
    _nexmark(
        5, "the auctions with most bids of the last 10 s, every 2 s", "at", ("t", "auction", "n"),
        f"SELECT t, auction, COUNT(*) AS n FROM instants JOIN bid ON {_TEN} GROUP BY t, auction"
        " QUALIFY n = MAX(n) OVER (PARTITION BY t)",
    ),
    _nexmark(
        6, "by seller, the average price of the last ten auctions that have ended", "final", ("seller", "price"),
        "SELECT seller, AVG(final) AS price FROM (SELECT a.seller, MAX(b.price) AS final, a.expires"
        " FROM auction a JOIN bid b ON a.id = b.auction AND b.ts >= a.ts AND b.ts <= a.expires"
        " WHERE a.expires <= (SELECT MAX(ts) FROM bid) GROUP BY a.id, a.seller, a.expires"
        " QUALIFY ROW_NUMBER() OVER (PARTITION BY a.seller ORDER BY a.expires DESC, a.id DESC) <= 10) GROUP BY seller",
    ),
    _nexmark(
        7, "the highest bids of each 10 s", "at", ("t", "auction", "bidder", "price"),
        f"SELECT t, auction, bidder, price FROM instants JOIN bid ON {_TEN}"
        " QUALIFY price = MAX(price) OVER (PARTITION BY t)",
    ),
    _nexmark(
        8, "persons who registered and opened an auction within the same 10 s", "at", ("t", "id", "name"),
        f"SELECT DISTINCT t, p.id, p.name FROM instants JOIN person p ON {_TEN.replace('ts', 'p.ts')}"
        f" JOIN auction a ON {_TEN.replace('ts', 'a.ts')} AND a.seller = p.id",
    ),
)  # fmt: skip

QUERIES: dict[str, PeerQuery] = {query.name: query for query in (*_KEYED, *_OTHERS, *_NEXMARK)}

# Queries that a peer cannot express, and the reason.
_CANNOT: dict[tuple[str, str], str] = {
    ("spark", "nexmark-q4"): (
        "an average over maxima that still change is an aggregate over an aggregate in update mode, which structured"
        " streaming refuses"
    ),
    ("spark", "nexmark-q6"): (
        "windows by count do not exist, and waiting for a time that stands in a row takes state machines of one's own"
    ),
    ("flink", "nexmark-q6"): (
        "OVER windows refuse input that takes rows back, and the highest bid of an auction is such input"
    ),
}


def why_not(peer: str, query: str) -> str:
    """Why a peer cannot express a query; empty if it has a program for it."""
    return _CANNOT.get((peer, query), "")
