"""Write the streams to disk once, in the layout that each system reads best.

| layout | contents | reader |
|---|---|---|
| `parquet/NAME/0000.parquet` ... | consecutive pieces in order of time | Thalweg, Spark, DuckDB |
| `csv/NAME/0.csv`, `1.csv` | half of the rows each, in order of time, no header | Flink, Bytewax |
| `headed/NAME/0000.csv` ... | consecutive pieces in order of time, with a header | Pathway |

The second layout is a log with two partitions, split by key where there is a key. Times in CSV are milliseconds since
1970. `filters.json` holds the standing filters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from shutil import rmtree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from thalweg_benchmarks.peers.streams import WORKLOADS, InputStream, filters

_PARTITIONS = 2


def write(folder: Path, workload: str, rows: int, rows_of_file: int, layouts: Iterable[str]) -> Path:
    """Write the first `rows` rows of a workload, counted over all its streams, unless they exist already."""
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


def _own(stream: InputStream, rows: int) -> int:
    return max(1, round(rows * stream.share))


def _time_of_last(stream: InputStream, rows: int) -> int:
    """The time of a stream's last row, in microseconds."""
    return int(stream.make(_own(stream, rows) - 1, 1).column("ts").cast(pa.int64())[0].as_py())


def _pieces(stream: InputStream, rows: int, rows_of_file: int, end: int) -> Iterator[pa.Table]:
    """A stream in pieces. Every stream's last row is moved to `end`, so that no stream's watermark stays behind."""
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
        names = ["number" if name == "id" else name for name in piece.column_names]  # Pathway reserves `id`
        plain = _plain(piece).rename_columns(names)
        pc_csv.write_csv(plain, folder / f"{number:04d}.csv", pc_csv.WriteOptions(quoting_style="none"))


def _plain(piece: pa.Table) -> pa.Table:
    """The same rows with times in milliseconds."""
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
