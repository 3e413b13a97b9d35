"""Catches orders of rows that differ from SQL's, equal rows kept apart, and wrong n-th tuples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.lanes import NULL, Ints, to_lane
from thalweg.core.rows import Value
from thalweg.core.strings import StringPool
from thalweg.core.types import INT64_MAX, DataType
from thalweg.kernel.sweep.levels import crossings, intervals
from thalweg.kernel.sweep.order_statistics import nth_alive
from thalweg.kernel.sweep.ordering import UInts, hash_rows, net, order_by, precedes, sort_lane, stable_order, together

INTEGERS = st.integers(-(2**63) + 1, INT64_MAX)
COLUMNS: dict[DataType, st.SearchStrategy[Value]] = {
    DataType.BIGINT: st.none() | INTEGERS | st.sampled_from([INT64_MAX, -(2**63) + 1, 0]),
    DataType.DOUBLE: st.none() | st.floats(allow_nan=False),
    DataType.STRING: st.none() | st.text(max_size=3),
    DataType.BOOLEAN: st.none() | st.booleans(),
}


@pytest.mark.parametrize("type_", COLUMNS)
@examples(60)
@given(st.data())
def test_values_sort_as_in_sql(type_: DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(COLUMNS[type_], min_size=1, max_size=9))
    descending, nulls_first = data.draw(st.booleans()), data.draw(st.booleans())
    pool = StringPool()
    lane = to_lane(pa.array(values, type_.arrow), type_, pool)
    ranks = sort_lane(lane, type_, pool, descending, nulls_first).tolist()
    for value, rank in zip(values, ranks, strict=True):
        for other, other_rank in zip(values, ranks, strict=True):
            assert (rank < other_rank) == _is_before(value, other, descending, nulls_first), (value, other)


def _is_before(a: Value, b: Value, descending: bool, nulls_first: bool) -> bool:
    if a is None or b is None:
        return (a is None) != (b is None) and (a is None) == nulls_first
    return bool(a > b if descending else a < b)  # type: ignore[operator]


@pytest.mark.parametrize("spread", [3, 2**16 + 9, 2**40, 2**62])
@pytest.mark.parametrize("rows", [0, 1, 40, 3000])
def test_sorting_is_stable_at_any_width(spread: int, rows: int) -> None:
    rng = np.random.default_rng(rows)
    lane = rng.integers(-spread, spread, rows) // 7 * 7
    assert stable_order(lane).tolist() == np.argsort(lane, kind="stable").tolist()
    coarse = lane // 3
    assert order_by(coarse % 2, coarse).tolist() == np.lexsort((coarse, coarse % 2)).tolist()


def test_a_row_is_held_against_many() -> None:
    rows = [np.array([1, 2, 2, 3]), np.array([9, 0, 5, 0])]
    assert precedes([np.array([2]), np.array([0])], rows).tolist() == [False, False, True, True]


def some_rows(rows: int) -> list[Ints]:
    rng = np.random.default_rng(rows)
    return [rng.choice(np.array([NULL, 0, 1]), rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)]


@pytest.mark.parametrize("hash_of", [hash_rows, lambda keys: np.zeros(len(keys[0]), dtype=np.uint64)])
@pytest.mark.parametrize("rows", [0, 1, 60])
def test_equal_rows_stand_together_even_if_hashes_meet(rows: int, hash_of: Callable[[Sequence[Ints]], UInts]) -> None:
    lanes = some_rows(rows)
    order, starts = together(lanes, hash_of)
    assert sorted(order.tolist()) == list(range(rows))
    assert int(starts.sum()) == len(set(zip(*(lane.tolist() for lane in lanes), strict=True)))


def test_what_is_left_of_a_signed_bag() -> None:
    lanes = some_rows(60)
    weights = np.random.default_rng(1).choice(np.array([-1, 1]), 60)
    rows = list(zip(*(lane.tolist() for lane in lanes), strict=True))
    sums: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights.tolist(), strict=True):
        sums[row] += weight
    left, signs = net(lanes, weights)
    found: Counter[tuple[int, ...]] = Counter()
    for position, sign in zip(left.tolist(), signs.tolist(), strict=True):
        found[rows[position]] += sign
    assert found == {row: count for row, count in sums.items() if count}
    assert len(left) == sum(map(abs, sums.values()))


@examples(200)
@given(st.data())
def test_nth_alive(data: st.DataObject) -> None:
    alive = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=9))
    events: list[tuple[int, int, int]] = []
    right: list[int | None] = []
    counts = list(alive)
    for _ in range(data.draw(st.integers(0, 12))):
        place = data.draw(st.integers(0, len(alive) - 1))
        delta = data.draw(st.sampled_from([1, 0, -1] if counts[place] else [1, 0]))
        counts[place] += delta
        elements = [p for p, count in enumerate(counts) for _ in range(count)]
        rank = data.draw(st.integers(1, max(1, len(elements))))
        events.append((place, delta, rank))
        right.append(elements[rank - 1] if elements else None)
    places, deltas, wanted = np.array(events, dtype=np.int64).reshape(-1, 3).T
    found = nth_alive(np.array(alive), places, deltas, wanted).tolist()
    assert [f for f, r in zip(found, right, strict=True) if r is not None] == [r for r in right if r is not None]


def test_levels_crossed_become_intervals() -> None:
    # One count goes 0 -> 2 (at 1) -> 1 (at 4) -> 2 (at 6); another 3 -> 2 (at 5).
    before, after = np.array([0, 2, 1, 3]), np.array([2, 1, 2, 2])
    time, base = np.array([1, 4, 6, 5]), np.array([0, 0, 0, 100])
    step, level, up = crossings(before, after)
    assert level.tolist() == [1, 2, 2, 2, 3]
    found = intervals(base[step] + level, time[step], up)
    forever = 2**62
    assert list(zip(*(lane.tolist() for lane in found[1:]), strict=True)) == [
        (1, forever, 1), (1, 4, 1), (6, forever, 1), (5, forever, -1)
    ]  # fmt: skip
