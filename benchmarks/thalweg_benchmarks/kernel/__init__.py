"""`thalweg bench kernel`: each operator by itself, and whole queries against DuckDB asked again."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg_benchmarks.kernel import count_joins, hot_key, operators, requery
from thalweg_benchmarks.result import Result


def run() -> Iterator[Result]:
    """Operators in steady state, a hot key, joins of count windows, then queries against DuckDB asked again."""
    yield from operators.run()
    yield from hot_key.run()
    yield from count_joins.run()
    yield from requery.run()
