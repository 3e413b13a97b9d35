"""Would catch state that grows with what has passed: keys and strings that never repeat, through small windows.

After many windows every operator must hold about what it would hold if it had begun with the last window.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import flatten
from thalweg.core.batch import Batch, Dates
from thalweg.core.forgetting import FORGETTING
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.pipeline import Pipeline, Settings, Strategy, build
from thalweg.kernel.state.table import KeyTable

SCRIPT = """
CREATE STREAM s (k INT, name STRING, v INT);
CREATE STREAM t (k INT, name STRING, v INT);
CREATE STREAM u (k INT, name STRING, v INT);
CREATE NRR n (k INT PRIMARY KEY, name STRING, v INT);
"""
EXTREMA = "MIN(name) AS low, MAX(v) AS high"
JOINED = "FROM s [RANGE 4] JOIN t [RANGE 4] ON s.name = t.name"
QUERIES = {
    "select": "SELECT name FROM s [RANGE 4] WHERE name <> 'x'",
    "computed": "SELECT UPPER(name) AS name, 'constant' AS c FROM s [RANGE 4 SLIDE 2]",
    "rows": "SELECT name, v FROM s [ROWS 100 SLIDE 3]",
    "partitioned": "SELECT name, v FROM s [PARTITION BY name ROWS 2 RANGE 4]",
    "partitioned by two": "SELECT name, v FROM s [PARTITION BY k, name ROWS 2 RANGE 4]",
    "value": "SELECT name, v FROM s [RANGE 100 ON v]",
    "derived": "SELECT * FROM ISTREAM(SELECT DISTINCT name FROM s [RANGE 4]) [PARTITION BY name ROWS 1 RANGE 4]",
    "distinct": "SELECT DISTINCT name, k FROM s [RANGE 4]",
    "distinct numbers": "SELECT DISTINCT k FROM s [RANGE 4]",
    "distinct signed": "SELECT DISTINCT name FROM s [ROWS 100]",
    "group by": f"SELECT name, SUM(v) AS n, {EXTREMA}, COUNT(DISTINCT k) AS d FROM s [RANGE 4] GROUP BY name",
    "group by number": f"SELECT k, COUNT(*) AS n, {EXTREMA} FROM s [RANGE 4] GROUP BY k",
    "group by signed": f"SELECT name, {EXTREMA}, COUNT(DISTINCT name) AS d FROM s [ROWS 100] GROUP BY name",
    "one group": f"SELECT {EXTREMA}, COUNT(DISTINCT name) AS d FROM s [ROWS 100]",
    "join": f"SELECT s.name, t.v {JOINED}",
    "join numbers": "SELECT s.name, t.v FROM s [RANGE 4] JOIN t [RANGE 4] ON s.k = t.k AND s.v = t.v",
    "outer": "SELECT s.name, t.v FROM s [RANGE 4] FULL JOIN t [RANGE 4] ON s.name = t.name",
    "anti": "SELECT name FROM s [RANGE 4] WHERE k NOT IN (SELECT k FROM t [RANGE 4])",
    "nrr": "SELECT s.name, n.v FROM s [RANGE 4] LEFT JOIN n ON s.k = n.k",
    "negation": "SELECT name, v FROM s [RANGE 4] EXCEPT ALL ON (name) SELECT name, v FROM t [RANGE 4]",
    "negation signed": "SELECT name FROM s [ROWS 100] EXCEPT ALL SELECT name FROM t [ROWS 100]",
    "intersect": "SELECT name FROM s [RANGE 4] INTERSECT ALL SELECT name FROM t [RANGE 4]",
    "top-k": "SELECT name, v FROM s [RANGE 4] ORDER BY name LIMIT 5",
    "istream": "ISTREAM(SELECT DISTINCT name FROM s [RANGE 4])",
    "rstream": "RSTREAM(SELECT DISTINCT name FROM s [RANGE 4])",
    "three": f"SELECT s.name, t.v, u.v AS w {JOINED} JOIN u [RANGE 4] ON t.name = u.name",
}
CASES = [
    *((name, Strategy.AUTO, Settings()) for name in QUERIES),
    *((name, Strategy.NT, Settings()) for name in ("group by", "join", "distinct", "negation", "partitioned")),
    *((name, Strategy.ORD, Settings()) for name in ("join", "rows")),
    *((name, Strategy.DIRECT, Settings()) for name in ("join", "distinct")),
    ("three", Strategy.AUTO, Settings(algorithm="lazy", reevaluate=2)),
    ("three", Strategy.AUTO, Settings(algorithm="general-lazy")),
]
PER_TICK, TICKS, WINDOWS_LENGTH = 150, 80, 8  # the last ticks fill all windows
SMALL = 24_000  # bytes that are no sign of growth: rings, tables and runs have least sizes


def _id(part: object) -> str:
    if isinstance(part, Settings):
        return part.algorithm
    return part.value if isinstance(part, Strategy) else str(part)


@pytest.fixture(autouse=True)
def sweep_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in production, only with smaller numbers."""
    monkeypatch.setattr(FORGETTING, "every_batch", False)
    monkeypatch.setattr(FORGETTING, "least", 64)


def started(name: str, strategy: Strategy, settings: Settings) -> Pipeline:
    catalog = Catalog()
    compile_script(SCRIPT, catalog)
    plan = compile_query(QUERIES[name], catalog)
    pipeline = build(flatten(plan) if name == "three" else plan, strategy, settings=settings)
    pipeline.begin(BEGINNING)
    return pipeline


def feed(pipeline: Pipeline, now: Instant) -> None:
    """New keys arrive in all streams; a table has the same row all the time."""
    pipeline.forget_strings()
    feeds = {}
    for node in pipeline.nodes:
        if node.operator is None and node.source != "n":
            key = np.arange(PER_TICK) + PER_TICK * now
            names = pa.array([f"the name of the key {k}" for k in key.tolist()])
            columns = (key, pipeline.pool.encode(names), key)
            feeds[node.source] = Batch.of_arrivals(columns, np.full(PER_TICK, now), pipeline.dated)
        elif node.source == "n" and now % TICKS == 0:
            row, one, forever = np.full(1, 7), np.ones(1, dtype=np.int8), np.full(1, FOREVER)
            columns = (row, pipeline.pool.encode(pa.array(["in the table"])), row)
            dates = Dates(np.full(1, BEGINNING), forever) if pipeline.dated else None
            feeds["n"] = Batch(columns, np.full(1, now), forever, one, dates)
    pipeline.process(feeds, now)


def tables(thing: Any, seen: set[int]) -> Iterator[KeyTable]:
    """The tables of keys in the state of an operator."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, KeyTable):
        yield thing
    parts = thing if isinstance(thing, list | tuple) else thing.values() if isinstance(thing, dict) else ()
    if type(thing).__module__.startswith("thalweg.kernel") and hasattr(thing, "__dict__"):
        parts = vars(thing).values()
    for part in parts:
        yield from tables(part, seen)


def nbytes(tree: Any) -> int:
    if isinstance(tree, np.ndarray):
        return tree.nbytes
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return sum(map(nbytes, parts))


@pytest.mark.parametrize(("name", "strategy", "settings"), CASES, ids=_id)
def test_state_is_what_windows_hold(name: str, strategy: Strategy, settings: Settings) -> None:
    long, fresh = started(name, strategy, settings), started(name, strategy, settings)
    for now in range(TICKS):
        feed(long, now)
        long.snapshot()
    for now in range(TICKS - WINDOWS_LENGTH, TICKS):
        feed(fresh, now)
    assert len(long.pool) <= 3 * len(fresh.pool) + 64
    assert long.pool.nbytes <= 3 * fresh.pool.nbytes + SMALL
    for mine, theirs in zip(*([*tables(p.nodes, set())] for p in (long, fresh)), strict=True):
        assert mine.used <= 3 * theirs.used + 64 and mine.size <= 3 * theirs.size + 64
    assert nbytes(long.snapshot()) <= 3 * nbytes(fresh.snapshot()) + SMALL
