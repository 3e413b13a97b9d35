"""Would catch a cost formula or a heuristic that is not the paper's: GolabOzsu2003, Tables 5 to 7, exactly."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.errors import PlanError
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.optimizer.join_orders import (
    Algorithm,
    CostModel,
    best_global_order,
    best_local_order,
    bucket_sizes,
    choose_orders,
    heuristic_order,
)


def streams(*parameters: tuple[float, float, float]) -> list[StreamStatistics]:
    """By stream its rate, the extent of its window and the distinct values in it."""
    return [StreamStatistics(rate, rate * extent, (values,)) for rate, extent, values in parameters]


TABLE_5 = streams((10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5))
TABLE_6 = streams((100, 100, 200), (1, 100, 200), (1, 100, 20), (3, 100, 2))
TABLE_7 = streams((11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20))
TABLES = {"5": TABLE_5, "6": TABLE_6, "7": TABLE_7}

COSTS = [
    ("5", (1, 2, 3, 4), 16_000),
    ("5", (2, 1, 3, 4), 19_600),
    ("6", (2, 1, 3, 4), 80_400),
    ("6", (2, 3, 1, 4), 123_150),
    ("6", (2, 3, 4, 1), 248_450),
    ("6", (1, 2, 3, 4), 120_000),
    ("7", (3, 4, 1, 2), 49_542),
    ("7", (3, 1, 4, 2), 47_977),
    ("7", (3, 1, 2, 4), 51_954),
    ("7", (1, 2, 3, 4), 68_200),
    ("7", (2, 1, 3, 4), 79_000),
]


def every_cost(table: str) -> list[int]:
    model = CostModel.nested_loops(TABLES[table])
    return sorted(round(model.global_order(order)) for order in permutations(range(4)))


@pytest.mark.parametrize(("table", "order", "cost"), COSTS)
def test_the_costs_of_the_papers_orders(table: str, order: tuple[int, ...], cost: int) -> None:
    model = CostModel.nested_loops(TABLES[table])
    assert round(model.global_order([i - 1 for i in order])) == cost


def test_best_and_worst_and_mean() -> None:
    fives, sixes, sevens = map(every_cost, TABLES)
    assert (fives[0], fives[4], fives[-1]) == (16_000, 19_600, 86_850)
    assert (sixes[0], sixes[-1]) == (80_400, 646_050)
    model = CostModel.nested_loops(TABLE_7)
    exact = [model.global_order(order) for order in permutations(range(4))]
    assert sevens[0] == 47_977 and round(sum(exact) / 24) == 63_362


@pytest.mark.parametrize("table", TABLES)
def test_the_heuristic_finds_the_best_order(table: str) -> None:
    model = CostModel.nested_loops(TABLES[table])
    cheapest = every_cost(table)[0]
    found = heuristic_order(TABLES[table], model.global_order)
    assert round(model.global_order(found)) == cheapest
    assert round(model.global_order(best_global_order(model))) == cheapest


def test_without_moving_fast_streams_up_the_best_order_is_missed() -> None:
    slow = [StreamStatistics(1.0, s.size, s.distinct) for s in TABLE_6]  # nobody is fast, so nobody is moved
    model = CostModel.nested_loops(TABLE_6)
    assert round(model.global_order(heuristic_order(slow, model.global_order))) in (123_150, 248_450)


def test_many_streams_are_ordered_without_looking_at_all_orders() -> None:
    many = streams(*((1 + i % 3, 50, 10 + 7 * i) for i in range(12)))
    model = CostModel.nested_loops(many)
    found = best_global_order(model)
    assert sorted(found) == list(range(12))
    assert model.global_order(found) <= model.global_order(range(12))
    assert sorted(best_local_order(model, 3, source_first=False)) == list(range(12))


# Figure 3(b): with a long interval many new tuples of the fast fourth stream come together, and belong last.
def test_general_lazy_never_costs_more_and_moves_a_fast_source_down() -> None:
    one_fast = streams((1, 100, 50), (1, 100, 50), (1, 100, 50), (10, 100, 50))
    for interval in (1.0, 10.0, 50.0):
        model = CostModel.nested_loops(one_fast, interval)
        general = choose_orders(one_fast, Algorithm.GENERAL_LAZY, frozenset(), interval)
        lazy = choose_orders(one_fast, Algorithm.LAZY, frozenset(), interval)
        naive = choose_orders(one_fast, Algorithm.NAIVE, frozenset(), interval)
        assert model.local_orders(general) <= model.local_orders(lazy)
        assert model.local_orders(general) <= model.local_orders(naive)
    assert general[3][-1] == 3 and model.local_orders(general) < 0.95 * model.local_orders(lazy)
    few = choose_orders(one_fast, Algorithm.GENERAL_LAZY, frozenset(), 1.0)
    assert few[3][0] == 3


# Figure 2: the naive algorithm falls behind as windows are added.
def test_naive_falls_behind_as_windows_are_added() -> None:
    gaps = []
    for n in (3, 4, 5, 6):
        alike = streams(*[(1, 100, 50)] * n)
        model = CostModel.nested_loops(alike)
        orders = [choose_orders(alike, a, frozenset()) for a in (Algorithm.NAIVE, Algorithm.EAGER)]
        naive, eager = map(model.local_orders, orders)
        assert naive > 10 * eager
        gaps.append(naive - eager)
    assert all(later > 2 * before for before, later in pairwise(gaps))


def test_a_source_is_walked_along_the_join_graph() -> None:
    chain = [
        StreamStatistics(1, 100, (10.0, None, None)),
        StreamStatistics(1, 100, (10.0, 10.0, None)),
        StreamStatistics(1, 100, (None, 10.0, 10.0)),
        StreamStatistics(1, 100, (None, None, 10.0)),
    ]
    orders = choose_orders(chain, Algorithm.EAGER, frozenset(range(4)))
    assert orders[0] == (0, 1, 2, 3) and orders[3] == (3, 2, 1, 0)
    assert set(orders[1][:2]) in ({1, 0}, {1, 2}) and set(orders[2][:2]) in ({2, 1}, {2, 3})


def test_a_hybrid_join_has_its_indexed_windows_innermost() -> None:
    for order in choose_orders(TABLE_5, Algorithm.EAGER, frozenset({0, 2})):
        rest = [i in (0, 2) for i in order[1:]]
        assert rest == sorted(rest)


def test_a_given_order_is_kept() -> None:
    given_order = (3, 1, 0, 2)
    assert choose_orders(TABLE_5, Algorithm.NAIVE, frozenset(), given=given_order) == (given_order,) * 4
    assert choose_orders(TABLE_5, Algorithm.EAGER, frozenset(), given=given_order)[0] == (0, 3, 1, 2)


# Figure 4(b): three slow streams and one that is fifty times faster, 48 buckets.
def test_large_hash_tables_belong_to_fast_streams_but_slow_ones_have_some() -> None:
    figure = streams((1, 100, 50), (1, 100, 50), (1, 100, 50), (50, 100, 50))

    def cost(buckets: tuple[int, ...]) -> float:
        model = CostModel(figure, buckets)
        return model.global_order(best_global_order(model))

    chosen = bucket_sizes(figure, 48)
    assert sum(chosen) == 48 and chosen[3] == max(chosen)
    assert cost((1, 1, 1, 45)) > cost((5, 5, 5, 33)) > cost((10, 10, 10, 18))
    assert cost(chosen) < cost((12, 12, 12, 12)) < cost((1, 1, 1, 45))
    with pytest.raises(PlanError, match="4 hash tables need at least 4 buckets, not 3"):
        bucket_sizes(figure, 3)


numbers = st.floats(0.5, 50)
drawn = st.lists(st.tuples(numbers, numbers, numbers), min_size=3, max_size=5)


@examples(30)
@given(drawn)
def test_equal_hash_tables_are_ordered_as_nested_loops(parameters: list[tuple[float, float, float]]) -> None:
    """Section 5.3: the savings are equal in each loop."""
    some = streams(*parameters)
    scanned, hashed = CostModel.nested_loops(some), CostModel(some, [4] * len(some))
    for order in permutations(range(len(some))):
        assert hashed.global_order(order) == pytest.approx(scanned.global_order(order) / 4)


@examples(30)
@given(drawn)
def test_the_search_finds_the_best_of_all_orders(parameters: list[tuple[float, float, float]]) -> None:
    model = CostModel.nested_loops(streams(*parameters))
    every = list(permutations(range(len(parameters))))
    assert model.global_order(best_global_order(model)) == pytest.approx(min(map(model.global_order, every)))
    for source in range(len(parameters)):
        costs = {order: model.walk(source, order) for order in every}
        first = min(cost for order, cost in costs.items() if order[0] == source)
        assert costs[best_local_order(model, source, source_first=True)] == pytest.approx(first)
        assert costs[best_local_order(model, source, source_first=False)] == pytest.approx(min(costs.values()))
