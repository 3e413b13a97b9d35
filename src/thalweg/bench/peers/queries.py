"""What is asked of everyone, once: in words, and as SQL over all rows that gives the rows to be expected.

`shape` says which rows of an answer that goes on changing are compared:

- `at`: those at every instant of the table `instants`, which is their first column;
- `all`: all that ever were in it, for answers that only grow, or whose rows are told once;
- `final`: those in it when the last row has been seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from thalweg.bench.peers.data import ATTRIBUTES, SIX, VALUES

Shape = Literal["at", "all", "final"]
FILTERS = 1_000


@dataclass(frozen=True)
class Query:
    """A question; `rows` of all its streams are asked for times, `compared` of them for rows."""

    name: str
    asks: str
    workload: str
    shape: Shape
    columns: tuple[str, ...]
    expected: str  # DuckDB's SQL over the streams and `instants`
    rows: int
    compared: int
    rows_of_file: int  # a micro-batch has four files of each stream


_WINDOW = "s.ts >= t - INTERVAL 60 SECONDS AND s.ts < t"
_LEFT, _RIGHT = _WINDOW.replace("s.", "l."), _WINDOW.replace("s.", "r.")

_KEYED = (
    Query(
        "aggregate",
        "count and sum of the last 60 s by key, every 10 s",
        "one", "at", ("t", "k", "n", "total"),
        f"SELECT t, k, COUNT(*) AS n, SUM(v) AS total FROM instants JOIN s ON {_WINDOW} GROUP BY t, k",
        8_000_000, 200_000, 250_000,
    ),
    Query(
        "join",
        "pairs with the same key, less than 2 s apart",
        "two", "all", ("k", "v", "w"),
        "SELECT l.k, l.v, r.v AS w FROM l JOIN r ON l.k = r.k"
        " AND r.ts > l.ts - INTERVAL 2 SECONDS AND r.ts < l.ts + INTERVAL 2 SECONDS",
        2_000_000, 60_000, 50_000,
    ),
    Query(
        "distinct",
        "the keys of the last 60 s",
        "one", "at", ("t", "k"),
        f"SELECT DISTINCT t, k FROM instants JOIN s ON {_WINDOW}",
        8_000_000, 200_000, 250_000,
    ),
    Query(
        "except",
        "the keys of the last 60 s of one stream that no row of the other with v < 25 has",
        "two", "at", ("t", "k"),
        f"SELECT t, k FROM instants JOIN l ON {_LEFT} EXCEPT SELECT t, k FROM instants JOIN r ON {_RIGHT} WHERE v < 25",
        8_000_000, 400_000, 250_000,
    ),
    Query(
        "last-ten",
        "the last ten rows of each key",
        "one", "final", ("k", "v"),
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS place FROM s)"
        " WHERE place <= 10",
        8_000_000, 200_000, 250_000,
    ),
)  # fmt: skip

QUERIES: dict[str, Query] = {query.name: query for query in _KEYED}
