"""Would catch a benchmark of join orders that does not run, or measures nothing; tests/kernel checks its counts."""

from __future__ import annotations

from thalweg_benchmarks.joins.orders import orders
from thalweg_benchmarks.joins.workload import Workload

SMALL = Workload(((10, 10, 50), (1, 10, 5), (1, 20, 4), (3, 10, 5)))


def test_orders_are_compared_by_comparisons_and_by_time() -> None:
    comparisons, time = orders({"small": SMALL}, batches=2)
    assert comparisons.detail["tried"] == 24 and comparisons.detail["comparisons"] > 0
    assert time.ratio > 0 and time.detail["best"] > 0
