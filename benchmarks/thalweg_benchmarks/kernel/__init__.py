"""`thalweg bench kernel`: each operator alone, and whole queries against asking again."""

from __future__ import annotations

from collections.abc import Iterator

from thalweg_benchmarks.kernel import operators, orders, requery
from thalweg_benchmarks.result import Result


def run() -> Iterator[Result]:
    """Operators in steady state and what they store, joins of count windows, then queries against asking again."""
    yield from operators.run()
    yield from orders.run()
    yield from requery.run()
