"""The streams of `thalweg bench peers`, generated from seeds: the same pieces have the same rows in every run.

Times are whole milliseconds, the resolution that all systems have, and never a whole second, so that windows that are
open on the left and windows that are open on the right hold the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from thalweg.core.lanes import Ints
from thalweg.generators import nexmark

START = 1_767_225_600_000  # 2026-01-01, in milliseconds
KEYS, SKEW = 2_000, 0.8
SIX = "abcdef"
ATTRIBUTES, VALUES, FILTERS = "abcde", 1_000, 1_000

Make = Callable[[int, int], pa.Table]  # (first row, rows) -> those rows


@dataclass(frozen=True)
class InputStream:
    """A stream: its name, a function that generates its rows, and its share of a workload's rows."""

    name: str
    make: Make
    share: float = 1.0


def moments(first_row: int, rows: int, every: int = 1) -> Ints:
    """Times in milliseconds, a row every `every` of them, never on a whole second (999 rows a second at most)."""
    place = np.arange(first_row, first_row + rows, dtype=np.int64) * every
    return START + place // 999 * 1000 + place % 999 + 1


def _draws(seed: int, first_row: int) -> np.random.Generator:
    return np.random.default_rng([seed, first_row])


def keyed(seed: int, first_row: int, rows: int) -> pa.Table:
    """Columns ts, k and v: keys Zipf(0.8) over 2,000 values; v a multiple of 1/1024, so that sums are exact."""
    draws = _draws(seed, first_row)
    weights = 1 / np.arange(1, KEYS + 1) ** SKEW
    k = np.searchsorted(np.cumsum(weights) / weights.sum(), draws.random(rows)).clip(max=KEYS - 1)
    v = draws.integers(0, 100 * 1024, rows) / 1024
    return pa.table({"ts": _timestamps(moments(first_row, rows)), "k": k.astype(np.int64), "v": v})


def sixth(seed: int, first_row: int, rows: int) -> pa.Table:
    """One of six streams: a row every six milliseconds, keys uniform over 2,000 values."""
    draws = _draws(seed, first_row)
    ts = _timestamps(moments(first_row, rows, every=6))
    return pa.table({"ts": ts, "k": draws.integers(0, KEYS, rows), "v": draws.integers(0, 100, rows)})


def attributes(seed: int, first_row: int, rows: int) -> pa.Table:
    """Columns ts, id and five attributes with 1,000 values each, for the standing filters."""
    draws = _draws(seed, first_row)
    columns = {name: draws.integers(0, VALUES, rows) for name in ATTRIBUTES}
    ids = np.arange(first_row, first_row + rows)
    return pa.table({"ts": _timestamps(moments(first_row, rows)), "id": ids, **columns})


def filters(count: int = FILTERS, seed: int = 7) -> list[tuple[str, int, str, int]]:
    """Standing filters (x, low, y, other low): x in [low, low + 20) and y in [other low, other low + 20)."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        first, second = draw.choice(list(ATTRIBUTES), 2, replace=False).tolist()
        low, other_low = draw.integers(0, VALUES, 2).tolist()
        found.append((first, low, second, other_low))
    return found


def _auctions_and_bids(make: Callable[..., pa.Table], first_row: int, rows: int) -> pa.Table:
    """NEXMark's rows with times in whole milliseconds, never on a whole second."""
    table = make(1, first_row, rows)
    for name in ("ts", "expires"):
        if name in table.column_names:
            ms = table.column(name).cast(pa.int64()).to_numpy() // 1000
            column = _timestamps(ms + (ms % 1000 == 0))
            table = table.set_column(table.column_names.index(name), name, column)
    return table


def _timestamps(milliseconds: Ints) -> pa.Array:
    return pa.array(1000 * milliseconds).cast(pa.timestamp("us", "UTC"))


def _seeded(make: Callable[[int, int, int], pa.Table], seed: int) -> Make:
    return lambda first_row, rows: make(seed, first_row, rows)


def _nexmark(make: Callable[..., pa.Table]) -> Make:
    return lambda first_row, rows: _auctions_and_bids(make, first_row, rows)


WORKLOADS: dict[str, tuple[InputStream, ...]] = {
    "one": (InputStream("s", _seeded(keyed, 1)),),
    "two": (InputStream("l", _seeded(keyed, 2), 0.5), InputStream("r", _seeded(keyed, 3), 0.5)),
    "six": tuple(InputStream(name, _seeded(sixth, 10 + i), 1 / 6) for i, name in enumerate(SIX)),
    "attributes": (InputStream("s", _seeded(attributes, 4)),),
    "nexmark": (
        InputStream("person", _nexmark(nexmark.persons), nexmark.PERSONS / nexmark.EVENTS),
        InputStream("auction", _nexmark(nexmark.auctions), nexmark.AUCTIONS / nexmark.EVENTS),
        InputStream("bid", _nexmark(nexmark.bids), nexmark.BIDS / nexmark.EVENTS),
    ),
}
