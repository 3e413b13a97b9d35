"""Zeek logs joined over ten-minute windows, compared with DuckDB: all results, and those alive at some instants.

`thalweg bench joins --data FOLDER`, where FOLDER holds one Parquet file for each log, `zeek_LOG_*3day.parquet`, sorted
by `ts` in seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import and_, call, column
from thalweg.algebra.plan import MultiJoin, Plan, StreamScan, Windowed, unflatten
from thalweg.algebra.windows import Range
from thalweg.core.batch import Batch
from thalweg.core.errors import ThalwegError
from thalweg.core.schema import Schema
from thalweg.core.time import SECOND
from thalweg.core.types import DataType
from thalweg.kernel.pipeline import build
from thalweg_benchmarks.result import Result

WINDOW = 600 * SECOND
BATCH = 5_000  # rows, counted over all logs
ASKED = 40  # instants at which results are counted
# The logs, and the column on which they are joined. The first join has no results.
QUESTIONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("conn", "http", "ssh", "dns", "weird", "ssl"), "id.orig_h"),
    (("conn", "http", "dns", "weird", "ssl"), "id.orig_h"),
    (("conn", "http", "ssh", "weird"), "id.orig_h"),
    (("conn", "http", "weird"), "uid"),
)
SCHEMA = Schema.of(key=DataType.STRING, n=DataType.BIGINT)


def zeek(folder: Path) -> Iterator[Result]:
    """Time of a tree of binary joins / time of the multi-way join. Results that differ from DuckDB's are an error."""
    for logs, key in QUESTIONS:
        tables = {log: _read(folder, log, key) for log in logs}
        multi = _join(logs)
        ours, seconds = _run(multi, tables)
        wanted = _duckdb(tables, _instants(tables))
        if ours != wanted:
            raise AssertionError(f"{', '.join(logs)} by {key}: DuckDB gives {wanted}, the multi-way join {ours}")
        tree, tree_seconds = _run(unflatten(multi, range(len(logs))), tables)
        if tree != wanted:
            raise AssertionError(f"{', '.join(logs)} by {key}: DuckDB gives {wanted}, the tree {tree}")
        detail = {"results": wanted[0], "seconds": round(seconds, 3), "tree_seconds": round(tree_seconds, 3)}
        yield Result(f"{', '.join(logs)} by {key}: tree / multi-way, time", tree_seconds / seconds, None, True, detail)


def _read(folder: Path, log: str, key: str) -> pa.Table:
    """A log as a table of the time in microseconds, the key, and the number of the row."""
    paths = sorted(folder.glob(f"zeek_{log}_*3day.parquet"))
    if not paths:
        raise ThalwegError(
            f"there is no zeek_{log}_*3day.parquet in {folder}", hint="--data must name the folder of the logs"
        )
    table = pq.read_table(paths[0], columns=["ts", key])
    ts = np.round(table["ts"].to_numpy() * 1e6).astype(np.int64)
    numbers = np.arange(len(ts))
    return pa.table({"ts": ts, "key": table[key].cast(pa.string()), "n": numbers})


def _join(logs: Sequence[str]) -> MultiJoin:
    windows: list[Plan] = [Windowed(StreamScan(Stream(log, SCHEMA)), Range(WINDOW)) for log in logs]
    every = Schema(SCHEMA.fields * len(windows))
    equal = [call("=", column(every, 0), column(every, 2 * i)) for i in range(1, len(windows))]
    return MultiJoin(tuple(windows), and_(equal))


def _instants(tables: Mapping[str, pa.Table]) -> list[int]:
    times = np.concatenate([table["ts"].to_numpy() for table in tables.values()])
    drawn: list[int] = np.random.default_rng(0).choice(times, ASKED).tolist()
    return drawn


def _run(plan: Plan, tables: Mapping[str, pa.Table]) -> tuple[list[int], float]:
    """Checksums of all results, the numbers of results alive at the instants, and the seconds taken."""
    pipeline = build(plan)
    pipeline.begin(-1)
    lanes = {
        log: (t["ts"].to_numpy(), pipeline.pool.encode(t["key"].combine_chunks()), t["n"].to_numpy())
        for log, t in tables.items()
    }
    ends = np.sort(np.concatenate([ts for ts, _, _ in lanes.values()]))
    cuts = np.unique([*ends[BATCH - 1 :: BATCH], ends[-1]])
    instants = _instants(tables)
    sums, before, seconds = np.zeros(2 * len(tables) + len(instants), dtype=np.int64), int(ends[0]) - 1, 0.0
    for now in cuts.tolist():
        feeds = {}
        for log, (ts, keys, numbers) in lanes.items():
            rows = slice(*np.searchsorted(ts, [before, now], side="right"))
            feeds[log] = Batch.of_arrivals((keys[rows], numbers[rows]), ts[rows])
        began = time.perf_counter()
        output = pipeline.process(feeds, now)
        seconds += time.perf_counter() - began
        sums += _added(output, instants)
        before = now
    return sums.tolist(), seconds


def _added(output: Batch, instants: Sequence[int]) -> np.ndarray[Any, Any]:
    numbers = output.columns[1::2]
    products = [int((a * b).sum()) for a, b in pairwise(numbers)]
    alive = [int(np.count_nonzero((output.start <= t) & (t < output.end))) for t in instants]
    return np.array([len(output), *(int(n.sum()) for n in numbers), *products, *alive], dtype=np.int64)


def _duckdb(tables: Mapping[str, pa.Table], instants: Sequence[int]) -> list[int]:
    """The same checksums by SQL: tuples join if any two of them are less than ten minutes apart."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ThalwegError(
            "the results are compared with DuckDB's, and DuckDB is not installed", hint="pip install duckdb"
        ) from None
    database = duckdb.connect()
    names = list(tables)
    for name, table in tables.items():
        database.register(name, table)
    near = [f"abs({a}.ts - {b}.ts) < {WINDOW}" for i, a in enumerate(names) for b in names[:i]]
    where = " AND ".join([*(f"{names[0]}.key = {name}.key" for name in names[1:]), *near])
    times = ", ".join(f"{name}.ts" for name in names)
    shown = ", ".join(f"{name}.n AS n{i}" for i, name in enumerate(names))
    database.execute(
        f"CREATE TABLE met AS SELECT {shown}, greatest({times}) AS since, least({times}) + {WINDOW} AS until "
        f"FROM {', '.join(names)} WHERE {where}"
    )
    sums = [f"sum(n{i})" for i in range(len(names))] + [f"sum(n{i} * n{i + 1})" for i in range(len(names) - 1)]
    alive = [f"count(*) FILTER (WHERE since <= {t} AND {t} < until)" for t in instants]
    row = database.execute(f"SELECT count(*), {', '.join([*sums, *alive])} FROM met").fetchone()
    assert row is not None
    return [int(value or 0) for value in row]
