"""The streams of the peers' benchmark, seeded, and written once for all in the layouts that each system likes to read.

| layout | what it is | who reads it |
|---|---|---|
| `parquet/NAME/0000.parquet` ... | pieces one after the other in time | micro-batches, and whoever reads tables |
| `csv/NAME/0.csv`, `1.csv` | half of the rows each, by key where there is one, both in order of time: a log with two partitions; no header | Flink, Bytewax |
| `headed/NAME/0000.csv` ... | pieces one after the other in time, with a header | Pathway |

Times are whole milliseconds, which is what all of them can tell apart, and never a whole second, so that windows that
are open on the left and windows that are open on the right hold the same rows. CSV has them as milliseconds since 1970.
`filters.json` has the standing filters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from thalweg.core.lanes import Ints
from thalweg.generators import nexmark

START = 1_767_225_600_000  # 2026-01-01, in milliseconds
KEYS, SKEW = 2_000, 0.8
SIX = "abcdef"
ATTRIBUTES, VALUES, FILTERS = "abcde", 1_000, 1_000
_PARTITIONS = 2

Make = Callable[[int, int], pa.Table]  # (first row, rows) -> those rows


@dataclass(frozen=True)
class Stream:
    """A stream by name, as a function of where to begin and how many rows; `share` of a workload's rows are its own."""

    name: str
    make: Make
    share: float = 1.0


def moments(first_row: int, rows: int, every: int = 1) -> Ints:
    """The milliseconds of rows that come every so many, 999 a second at most: none on a whole second."""
    place = np.arange(first_row, first_row + rows, dtype=np.int64) * every
    return START + place // 999 * 1000 + place % 999 + 1


def _draws(seed: int, first_row: int) -> np.random.Generator:
    return np.random.default_rng([seed, first_row])


def keyed(seed: int, first_row: int, rows: int) -> pa.Table:
    """ts, k: Zipf(0.8) over 2,000 values, v: so many 1024ths, whose sums are exact in any order."""
    draws = _draws(seed, first_row)
    weights = 1 / np.arange(1, KEYS + 1) ** SKEW
    k = np.searchsorted(np.cumsum(weights) / weights.sum(), draws.random(rows)).clip(max=KEYS - 1)
    v = draws.integers(0, 100 * 1024, rows) / 1024
    return pa.table({"ts": _timestamps(moments(first_row, rows)), "k": k.astype(np.int64), "v": v})


def sixth(seed: int, first_row: int, rows: int) -> pa.Table:
    """One of six streams: a row every six milliseconds, keys alike over 2,000 values."""
    draws = _draws(seed, first_row)
    ts = _timestamps(moments(first_row, rows, every=6))
    return pa.table({"ts": ts, "k": draws.integers(0, KEYS, rows), "v": draws.integers(0, 100, rows)})


def attributes(seed: int, first_row: int, rows: int) -> pa.Table:
    """ts, id, and five attributes with 1,000 values each, for filters."""
    draws = _draws(seed, first_row)
    columns = {name: draws.integers(0, VALUES, rows) for name in ATTRIBUTES}
    ids = np.arange(first_row, first_row + rows)
    return pa.table({"ts": _timestamps(moments(first_row, rows)), "id": ids, **columns})


def filters(count: int = FILTERS, seed: int = 7) -> list[tuple[str, int, str, int]]:
    """Standing filters: two of five attributes, each within 20 values from its number on."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        first, second = draw.choice(list(ATTRIBUTES), 2, replace=False).tolist()
        low, other_low = draw.integers(0, VALUES, 2).tolist()
        found.append((first, low, second, other_low))
    return found


def _auctions_and_bids(make: Callable[..., pa.Table], first_row: int, rows: int) -> pa.Table:
    """NEXMark's rows with times as all others have them."""
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


WORKLOADS: dict[str, tuple[Stream, ...]] = {
    "one": (Stream("s", _seeded(keyed, 1)),),
    "two": (Stream("l", _seeded(keyed, 2), 0.5), Stream("r", _seeded(keyed, 3), 0.5)),
    "six": tuple(Stream(name, _seeded(sixth, 10 + i), 1 / 6) for i, name in enumerate(SIX)),
    "attributes": (Stream("s", _seeded(attributes, 4)),),
    "nexmark": (
        Stream("person", _nexmark(nexmark.persons), nexmark.PERSONS / nexmark.EVENTS),
        Stream("auction", _nexmark(nexmark.auctions), nexmark.AUCTIONS / nexmark.EVENTS),
        Stream("bid", _nexmark(nexmark.bids), nexmark.BIDS / nexmark.EVENTS),
    ),
}


def write(folder: Path, workload: str, rows: int, rows_of_file: int, layouts: Iterable[str]) -> Path:
    """The first `rows` rows of a workload (all its streams together), unless they are there already."""
    place, streams = folder / f"{workload}-{rows}-{rows_of_file}", WORKLOADS[workload]
    end = max(_time_of_last(stream, rows) for stream in streams)
    for layout in layouts:
        for stream in streams:
            done = place / layout / stream.name
            if not done.exists():
                part = done.with_suffix(".part")
                rmtree(part, ignore_errors=True)
                part.mkdir(parents=True)
                _WRITERS[layout](part, _pieces(stream, rows, rows_of_file, end))
                part.rename(done)
    (place / "filters.json").write_text(json.dumps(filters()))
    return place


def _own(stream: Stream, rows: int) -> int:
    return max(1, round(rows * stream.share))


def _time_of_last(stream: Stream, rows: int) -> int:
    """In microseconds."""
    return int(stream.make(_own(stream, rows) - 1, 1).column("ts").cast(pa.int64())[0].as_py())


def _pieces(stream: Stream, rows: int, rows_of_file: int, end: int) -> Iterator[pa.Table]:
    """A stream in files; its last row comes at `end`, as those of all streams do, so that none keeps others waiting."""
    own, size = _own(stream, rows), max(1, round(rows_of_file * stream.share))
    for first in range(0, own, size):
        count = min(size, own - first)
        piece = stream.make(first, count)
        if first + count == own:
            last = pa.array([end]).cast(piece.schema.field("ts").type)
            ts = pa.chunked_array([*piece.column("ts").slice(0, count - 1).chunks, last])
            piece = piece.set_column(piece.column_names.index("ts"), "ts", ts)
        yield piece


def _parquet(folder: Path, pieces: Iterator[pa.Table]) -> None:
    for number, piece in enumerate(pieces):
        file = folder / f"{number:04d}.parquet"
        pq.write_table(piece, file)
        os.utime(file, (number, number))  # Spark reads files in order of their times, to the millisecond


def _partitions(folder: Path, pieces: Iterator[pa.Table]) -> None:
    for piece in pieces:
        keys = piece.column("k").to_numpy() if "k" in piece.column_names else np.arange(piece.num_rows)
        for part in range(_PARTITIONS):
            mine = _plain(piece.filter(pa.array(keys % _PARTITIONS == part)))
            with (folder / f"{part}.csv").open("ab") as file:
                pc_csv.write_csv(mine, file, pc_csv.WriteOptions(include_header=False, quoting_style="none"))


def _headed(folder: Path, pieces: Iterator[pa.Table]) -> None:
    for number, piece in enumerate(pieces):
        names = ["number" if name == "id" else name for name in piece.column_names]  # Pathway has an id of its own
        plain = _plain(piece).rename_columns(names)
        pc_csv.write_csv(plain, folder / f"{number:04d}.csv", pc_csv.WriteOptions(quoting_style="none"))


def _plain(piece: pa.Table) -> pa.Table:
    """Times as milliseconds."""
    for place, field in enumerate(piece.schema):
        if pa.types.is_timestamp(field.type):
            ms = pc.divide(piece.column(place).cast(pa.timestamp("us", "UTC")).cast(pa.int64()), 1000)
            piece = piece.set_column(place, field.name, ms)
    return piece


_WRITERS: dict[str, Callable[[Path, Iterator[pa.Table]], None]] = {
    "parquet": _parquet,
    "csv": _partitions,
    "headed": _headed,
}
