"""Ten new strings in a pool of millions, against ten in a pool of thousands: coded, compared, and turned back."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

from thalweg.core.strings import StringPool
from thalweg_benchmarks.result import Result
from thalweg_benchmarks.state.new_strings import strings

MANY, FEW, TEN, TIMES = 3_000_000, 3_000, 10, 300
AS_TEN = 2.0  # times the cost among few: what is far apart in memory is not in the cache


def run(quick: bool = False) -> Iterator[Result]:
    """The ratio."""
    few, many = (_ten_among(count) for count in (FEW, MANY // (10 if quick else 1)))
    detail = {"microseconds": many * 1e6, "microseconds_among_few": few * 1e6}
    yield Result("ten new strings among millions / among thousands", many / few, AS_TEN, detail=detail)


def _ten_among(count: int) -> float:
    pool, times = StringPool(), []
    for first in range(0, count, FEW):
        pool.encode(strings(first, FEW))
    for i in range(TIMES):
        new = strings(count + i * TEN, TEN)
        began = perf_counter()
        codes = pool.encode(new)
        pool.ranks(codes)
        pool.decode(codes)
        times.append(perf_counter() - began)
    return median(times)
