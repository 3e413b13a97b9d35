"""A query kept up to date, against the same query run again by DuckDB over the window's contents at each slide."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.core.errors import ThalwegError
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.pipeline import build
from thalweg_benchmarks.kernel.feeds import BATCH, zipf
from thalweg_benchmarks.result import Result

WINDOW = 60_000  # ticks of a millisecond: 60 s at 1,000 tuples/s
TUPLES = 300_000
ASKED = 60  # runs of DuckDB from which the time of more slides is extrapolated

# Slide in ticks -> how many times as fast as DuckDB.
TARGETS = {10_000: 1.0, 1_000: 8.0, 1: 50.0}


@dataclass(frozen=True)
class Question:
    """A query, in CQL and in SQL."""

    name: str
    cql: str
    sql: str


QUESTIONS = (
    Question(
        "aggregate by key",
        "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s {w} GROUP BY k",
        "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s WHERE {s} GROUP BY k",
    ),
    Question("distinct", "SELECT DISTINCT k FROM s {w}", "SELECT DISTINCT k FROM s WHERE {s}"),
    Question(
        "except",
        "SELECT k FROM s {w} EXCEPT SELECT k FROM t {w}",
        "SELECT k FROM s WHERE {s} EXCEPT SELECT k FROM t WHERE {s}",
    ),
)


def run() -> Iterator[Result]:
    """Every query at every slide."""
    streams = {name: _stream(seed) for seed, name in enumerate(("s", "t"))}
    database = _load(streams)
    for question in QUESTIONS:
        for slide, target in TARGETS.items():
            ours, changes = _ours(question, slide, streams)
            theirs = _theirs(question, slide, database)
            label = "every change" if slide == 1 else f"every {slide // 1_000} s"
            detail = {"seconds": round(ours, 3), "duckdb_seconds": round(theirs, 3), "changes": changes}
            yield Result(f"{question.name}, {label}", theirs / ours, target, at_least=True, detail=detail)


def _stream(seed: int) -> tuple[np.ndarray[Any, Any], ...]:
    rng = np.random.default_rng(seed)
    return np.arange(TUPLES), zipf(2_000)(rng, TUPLES), rng.integers(0, 1_000, TUPLES)


def _ours(question: Question, slide: int, streams: dict[str, tuple[np.ndarray[Any, Any], ...]]) -> tuple[float, int]:
    """Seconds to keep the answer up to date over the whole stream, and the number of changes."""
    catalog = Catalog()
    compile_script("CREATE STREAM s (k INT, v INT); CREATE STREAM t (k INT, v INT)", catalog)
    window = f"[RANGE {WINDOW}]" if slide == 1 else f"[RANGE {WINDOW} SLIDE {slide}]"
    plan = compile_query(question.cql.format(w=window), catalog)
    pipeline = build(plan)
    pipeline.begin(-1)
    changes = 0
    began = time.perf_counter()
    for i in range(0, TUPLES, BATCH):
        feeds = {
            name: Batch.of_arrivals([k[i : i + BATCH], v[i : i + BATCH]], ts[i : i + BATCH], pipeline.dated)
            for name, (ts, k, v) in streams.items()
            if any(node.source == name for node in pipeline.nodes)
        }
        changes += len(pipeline.process(feeds, i + BATCH - 1))
    return time.perf_counter() - began, changes


def _theirs(question: Question, slide: int, database: Any) -> float:
    """Seconds to run the query at each slide; extrapolated from `ASKED` runs if there are more slides."""
    ends = np.arange(slide - 1, TUPLES, slide)
    asked = ends if len(ends) <= ASKED else ends[np.linspace(0, len(ends) - 1, ASKED).astype(int)]
    began = time.perf_counter()
    for end in asked.tolist():
        database.sql(question.sql.format(s=f"ts > {end - WINDOW} AND ts <= {end}")).to_arrow_table()
    return (time.perf_counter() - began) * len(ends) / len(asked)


def _load(streams: dict[str, tuple[np.ndarray[Any, Any], ...]]) -> Any:
    try:
        import duckdb
    except ImportError:
        raise ThalwegError(
            "this benchmark compares with DuckDB, which is not installed", hint="pip install duckdb"
        ) from None
    database = duckdb.connect()
    database.execute("SET threads = 1")  # both sides use one core
    for name, (ts, k, v) in streams.items():
        loaded = pa.table({"ts": ts, "k": k, "v": v})
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM loaded")
        del loaded
    return database
