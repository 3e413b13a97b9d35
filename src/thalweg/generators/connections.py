"""Wide-area TCP connections like those of LBL-CONN-7, which GolabOzsu2005 and PatroumpasSellis2011 query.

The papers' trace has a row for each connection: start, duration, protocol, bytes sent, source and destination. The
generator keeps the properties that matter to the queries: few hosts start most connections, telnet is about three times
as frequent as ftp (so that a self-join on it has about ten times the results: GolabOzsu2005 §6), sizes and durations
have long tails. `link` numbers the outgoing links into which GolabOzsu2005 splits the trace by destination.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.generators.draws import Draws, Reals
from thalweg.generators.tables import START, arrivals, named, row_numbers, tabulate

SCHEMA = Schema.of(
    ts=DataType.TIMESTAMP,
    duration=DataType.DOUBLE,
    protocol=DataType.STRING,
    bytes=DataType.BIGINT,
    src=DataType.STRING,
    dst=DataType.STRING,
    link=DataType.BIGINT,
)

# Protocol: its share, the median of its duration in seconds, the median of its bytes.
PROTOCOLS: dict[str, tuple[float, float, float]] = {
    "smtp": (0.25, 1.5, 1_200),
    "telnet": (0.19, 90.0, 3_000),
    "nntp": (0.14, 3.0, 6_000),
    "ftp-data": (0.13, 2.0, 12_000),
    "http": (0.11, 0.8, 2_500),
    "ftp": (0.06, 30.0, 400),
    "finger": (0.05, 1.0, 300),
    "domain": (0.04, 0.1, 150),
    "shell": (0.03, 4.0, 800),
}
_SHARES, _DURATIONS, _SIZES = (tuple(column) for column in zip(*PROTOCOLS.values(), strict=True))
_NAMES = pa.array(list(PROTOCOLS))
_DURATION_SPREAD, _SIZE_SPREAD = 1.6, 1.8  # of the logarithm


def connections(
    seed: int,
    first_row: int,
    rows: int,
    rate: float = 1_000.0,
    *,
    start: int = START,
    hosts: int = 2_000,
    skew: float = 1.0,
    links: int = 4,
) -> pa.Table:
    """`rows` connections from row `first_row` on; `skew` is the Zipf exponent of sources and of destinations."""
    draws = Draws(seed, row_numbers(first_row, rows))
    protocol = draws.choose("protocol", _SHARES)
    called = _other_ranks(draws.zipf("dst", hosts, skew), hosts)
    return tabulate(
        SCHEMA,
        (
            arrivals(draws, rate, start),
            np.round(_long_tailed(draws, "duration", np.array(_DURATIONS)[protocol], _DURATION_SPREAD), 6),
            named(protocol, _NAMES),
            _long_tailed(draws, "bytes", np.array(_SIZES)[protocol], _SIZE_SPREAD).astype(np.int64),
            named(draws.zipf("src", hosts, skew), _addresses(hosts)),
            named(called, _addresses(hosts)),
            called % links,
        ),
    )


def _long_tailed(draws: Draws, what: str, median: Reals, spread: float) -> Reals:
    return np.asarray(median * np.exp(spread * draws.normal(what)))


def _other_ranks(ranks: Ints, hosts: int) -> Ints:
    """Ranks of destinations, in reverse: the most frequent destination is the rarest source."""
    return (hosts - 1) - ranks


@lru_cache(maxsize=8)
def _addresses(hosts: int) -> pa.Array:
    return pa.array([f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(hosts)])
