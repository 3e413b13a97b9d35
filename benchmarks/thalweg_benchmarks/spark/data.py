"""The streams that Thalweg and native Spark read: Parquet files in order of time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.core.schema import Schema
from thalweg.core.types import DataType

SCHEMA = Schema.of(
    ts=DataType.TIMESTAMP,
    k=DataType.BIGINT,
    v=DataType.DOUBLE,
    a=DataType.BIGINT,
    b=DataType.BIGINT,
    c=DataType.DOUBLE,
)
_START = 1_767_225_600_000_000  # 2026-01-01, in microseconds


def write_stream(folder: Path, rows: int, files: int, rate: int, keys: int, seed: int) -> Path:
    """Write `rows` rows into `files` files: `rate` rows per second of event time, Zipf(0.8) over `keys` keys."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, keys + 1) ** 0.8
    cumulated = np.cumsum(weights) / weights.sum()
    count = rows // files
    for file in range(files):
        place = np.arange(file * count, (file + 1) * count)
        table = pa.table(
            {
                "ts": pa.array(_START + place * (1_000_000 // rate)).cast(pa.timestamp("us", "UTC")),
                "k": np.searchsorted(cumulated, random.random(count)),
                "v": random.random(count),
                "a": random.integers(0, 1000, count),
                "b": random.integers(0, 10, count),
                "c": random.random(count),
            }
        )
        pq.write_table(table, folder / f"{file:04d}.parquet")
    return folder
