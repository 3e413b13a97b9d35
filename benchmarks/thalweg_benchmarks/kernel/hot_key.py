"""One hot key: two streams whose rows all have the same key meet in one batch, below an aggregate.

A process of its own runs each query in the local engine, because the peak memory of a process never falls.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import thalweg as tw
from thalweg_benchmarks.result import Result

ROWS = 10_000  # of each stream
GIGABYTES = 1.0  # the process at its peak, with Python and all packages
QUERIES = {
    "COUNT(*)": "SELECT COUNT(*) AS n FROM l [RANGE 1000000] JOIN r [RANGE 1000000] ON l.k = r.k",
    "COUNT(*), negative tuples": "SELECT COUNT(*) AS n FROM l [ROWS 1000000] JOIN r [ROWS 1000000] ON l.k = r.k",
    "sums by key, with a condition": "SELECT l.k, COUNT(*) AS n, SUM(l.x) AS x, AVG(r.x) AS y "
    "FROM l [RANGE 1000000] JOIN r [RANGE 1000000] ON l.k = r.k AND l.x <> r.x GROUP BY l.k",
}


def run(most: int = ROWS) -> Iterator[Result]:
    """The peak memory of a process for each query, in gigabytes."""
    for name, rows in zip(QUERIES, (most, most, most // 3), strict=True):  # sums take longer
        program = f"import json; from {__name__} import measure; print(json.dumps(measure({name!r}, {rows})))"
        done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
        seen = json.loads(done.stdout)
        pairs = rows * rows
        detail = {"pairs": pairs, "seconds": seen["seconds"], "nanoseconds_per_pair": seen["seconds"] / pairs * 1e9}
        yield Result(f"hot key, {rows:,} x {rows:,}, {name}: gigabytes", seen["gigabytes"], GIGABYTES, detail=detail)


def measure(name: str, rows: int) -> dict[str, float]:
    """Run a query in this process; seconds, and gigabytes that the process has had at its peak."""
    s = tw.local()
    s.execute("CREATE STREAM l (k INT, x DOUBLE); CREATE STREAM r (k INT, x DOUBLE)")
    q = s.query(QUERIES[name])
    for stream in ("l", "r"):
        s.push(stream, [(i, 7, i / 10) for i in range(rows)])
    began = time.perf_counter()
    s.advance(rows)
    (row,) = q.answer(at=rows)
    seconds = time.perf_counter() - began
    count = row[-3] if len(row) > 1 else row[0]
    expected = rows * rows - (rows if len(row) > 1 else 0)
    if count != expected:
        raise AssertionError(f"{name}: {count} pairs were counted, not {expected}")
    return {"seconds": seconds, "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)}
