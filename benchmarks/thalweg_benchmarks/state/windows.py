"""New strings through a window of 10,000 tuples: the time of a batch, the size of the state, what a snapshot writes."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import process_time

from thalweg.kernel.pipeline import Pipeline
from thalweg_benchmarks.result import Result
from thalweg_benchmarks.state.new_strings import arrays, nbytes, pipeline_of, step

ROWS, FEWER = 10_000_000, 2_000_000  # of the first query, and of all others
WINDOW, BATCH = 10_000, 5_000
NO_SLOWER = 1.1  # the last tenth of the batches, against the first
STATE = 3.0  # times what a window needs
WRITTEN = 0.35  # of the state, by a batch of a tenth of the window: its own rows, and merged runs
ALL_CHANGES = ("select", "max")  # queries whose state is that of the last batch, or has few groups
FEW_BATCHES = 4
WINDOWS_BEFORE = 3  # a run that has just filled its windows

QUERIES = {
    "group by": "SELECT name, COUNT(*) AS n, SUM(v) AS total FROM s {w} GROUP BY name",
    "select": "SELECT name, v FROM s {w} WHERE v < 900 AND name <> 'x'",
    "distinct": "SELECT DISTINCT name FROM s {w}",
    "join": "SELECT s.name, t.v FROM s {w} JOIN t {w} ON s.name = t.name",
    "except": "SELECT name, v FROM s {w} EXCEPT ALL ON (name) SELECT name, v FROM t [RANGE 100]",
    "partition by": "SELECT name, v FROM s [PARTITION BY name ROWS 2 RANGE {n}]",
    "max": "SELECT v, MAX(name) AS last FROM s {w} GROUP BY v",
    "last rows": "SELECT name, COUNT(*) AS n FROM s [ROWS {n}] GROUP BY name",
}


def run(quick: bool = False) -> Iterator[Result]:
    """For each query three ratios."""
    for place, (name, query) in enumerate(QUERIES.items()):
        rows = (FEWER if place else ROWS) // (10 if quick and not place else 2 if quick else 1)
        yield from _measured(name, query.format(w=f"[RANGE {WINDOW}]", n=WINDOW), rows)


def _measured(name: str, query: str, rows: int) -> Iterator[Result]:
    pipeline, times = pipeline_of(query), []
    for first in range(-WINDOWS_BEFORE * WINDOW, 0, BATCH):
        step(pipeline, first, BATCH)
    for first in range(0, rows, BATCH):
        began = process_time()
        step(pipeline, first, BATCH)
        times.append(process_time() - began)
    tenth = len(times) // 10
    early, late = _typical(times[:tenth]), _typical(times[-tenth:])
    detail = {"rows": rows, "rows_per_second": round(rows / sum(times)), "first_ms": early * 1e3, "last_ms": late * 1e3}
    yield Result(f"{name}: time of the last batches / the first", late / early, NO_SLOWER, detail=detail)

    fresh = pipeline_of(query)
    for first in range(rows - WINDOWS_BEFORE * WINDOW, rows, BATCH):
        step(fresh, first, BATCH)
    ours, needed = nbytes(pipeline.snapshot()), nbytes(fresh.snapshot())
    detail = {"bytes": ours, "needed": needed, "strings": len(pipeline.pool), "memory_of_strings": pipeline.pool.nbytes}
    yield Result(f"{name}: state / what a window needs", ours / needed, STATE, detail=detail)

    share = _written(pipeline, rows)
    target = None if name in ALL_CHANGES else WRITTEN
    yield Result(f"{name}: bytes that a snapshot writes / those of the state", share, target)


def _typical(times: list[float]) -> float:
    """The time of a batch: the median over a few batches at a time, which strings are looked for in once or twice."""
    return median(sum(times[i : i + FEW_BATCHES]) / FEW_BATCHES for i in range(0, len(times), FEW_BATCHES))


def _written(pipeline: Pipeline, first: int, batches: int = 60) -> float:
    """The average share of a snapshot that the one before did not have."""
    known, written, whole = dict[int, object](), 0, 0
    for i in range(batches):
        step(pipeline, first + i * (WINDOW // 10), WINDOW // 10)
        now = {id(array): array for array in arrays(pipeline.snapshot())}
        if i >= batches // 3:
            written += sum(array.nbytes for key, array in now.items() if key not in known)
            whole += sum(array.nbytes for array in now.values())
        known = dict(now)  # which also keeps the arrays, so that no id is used again
    return written / whole
