"""Would catch a join order that is chosen badly, and joins that compare or store too much: exact counts, no times."""

from __future__ import annotations

import pytest

from thalweg_benchmarks.joins.methods import methods
from thalweg_benchmarks.joins.orders import orders
from thalweg_benchmarks.joins.trees import TreeCase, trees
from thalweg_benchmarks.joins.workload import Workload

TABLE_5 = Workload(((10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5)))


@pytest.mark.slow
def test_the_chosen_order_is_near_the_best() -> None:
    comparisons = next(orders({"Table 5": TABLE_5}, batches=20))  # the next one would be the time
    assert comparisons.holds, comparisons.as_dict()
    assert comparisons.detail["tried"] == 24 and comparisons.detail["worst"] > 3 * comparisons.detail["best"]


def test_hash_tables_look_at_partners_and_nested_loops_at_windows() -> None:
    (result,) = methods(windows=(400,), batch=800, rounds=1)
    assert result.detail["nested_loops_comparisons"] > 100 * result.detail["comparisons"] > 0


def test_a_multi_way_join_stores_a_third_of_what_trees_store() -> None:
    alike = TreeCase(Workload(((1, 200, 40),) * 4), batch=400, below=200)
    time, state = trees({"alike": alike}, batches=1, rounds=1)
    assert state.holds and state.target is not None, state.as_dict()
    assert time.detail["tried"] == 6  # the answers of the fastest were compared
