"""Would catch a result that leaves twice, or never, or without its tuple, and a snapshot that moves."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.kernel.state.array_log import ArrayLog
from thalweg.kernel.state.buffers.order_index import LEFT, RIGHT, OrderIndex
from thalweg.kernel.tuning import DEFAULT, Tuning

ORDERS = st.integers(0, 6)
Result = tuple[int, int, int]  # left order, right order, and which result it is

STEPS = st.lists(
    st.one_of(
        st.lists(st.tuples(ORDERS, ORDERS), min_size=1, max_size=8),
        st.tuples(st.sampled_from([LEFT, RIGHT]), st.sets(ORDERS, max_size=4)),
    ),
    max_size=14,
)
SMALL = st.sampled_from([0, 4, 1024])


@examples(150)
@given(steps=STEPS, small=SMALL, cut=st.integers(0, 14))
def test_against_a_plain_list(steps: list[object], small: int, cut: int) -> None:
    tuning = Tuning(always_merge_runs_up_to=small, result_runs=2)
    index, model = OrderIndex(tuning), list[Result]()
    for number, step in enumerate(steps):
        if number == cut:
            tree, known = index.snapshot(), list(model)
        _both(index, model, step, number)
    if cut < len(steps):
        again, once_more = OrderIndex(tuning), list(known)
        again.restore(tree)
        assert _all(again) == Counter(known)
        for number, step in enumerate(steps[cut:], start=cut):
            _both(again, once_more, step, number)
        assert Counter(once_more) == Counter(model)


def test_a_result_leaves_with_whichever_tuple_goes_first() -> None:
    index = OrderIndex()
    index.add(np.array([1, 1, 2]), np.array([7, 8, 7]), np.array([10, 20, 30]))
    assert _rows(index.leave(RIGHT, np.array([7]))) == [(1, 7, 10), (2, 7, 30)]
    assert _rows(index.leave(LEFT, np.array([1, 2]))) == [(1, 8, 20)]
    assert len(index) == 0 and index.nbytes == 0


def test_an_order_may_be_given_again() -> None:
    index, one = OrderIndex(), np.array([1])
    index.add(np.arange(9), np.arange(9), np.arange(9))
    index.leave(LEFT, one)
    index.add(one, one, one + 40)
    assert _rows(index.leave(RIGHT, one)) == [(1, 1, 41)]


def test_first_in_first_out_keeps_few_runs_and_little_that_has_left() -> None:
    index, rng, window = OrderIndex(), np.random.default_rng(0), 4_000
    for now in range(0, 5 * window, 100):
        new = np.repeat(np.arange(now, now + 100), 10)
        old = rng.integers(max(0, now - window), now + 100, len(new))
        turned = bool(now // 100 % 2)
        index.add(*((old, new) if turned else (new, old)), new)
        gone = np.arange(max(0, now - window), max(0, now - window + 100))
        index.leave(LEFT, gone)
        index.leave(RIGHT, gone)
    assert 0 < len(index) < 10 * window
    parts = index.snapshot()["_indexed_runs"]
    assert len(parts) < 4 * DEFAULT.result_runs
    assert sum(part["alive"]["<array>"]["shape"][0] for part in parts) <= 2 * len(index)


def test_snapshots_share_the_runs() -> None:
    index = OrderIndex()
    index.add(np.arange(3), np.arange(3), np.arange(3))
    first, second = index.snapshot(), index.snapshot()
    assert first["_indexed_runs"][0]["run"]["left"] is second["_indexed_runs"][0]["run"]["left"]
    index.leave(LEFT, np.array([0]))
    assert ArrayLog.read(first["_indexed_runs"][0]["alive"]["<array>"])[1].all()


def _both(index: OrderIndex, model: list[Result], step: object, number: int) -> None:
    if isinstance(step, list):
        results = [(left, right, 100 * number + i) for i, (left, right) in enumerate(step)]
        index.add(*(np.array(lane, dtype=np.int64) for lane in zip(*results, strict=True)))
        model += results
    elif isinstance(step, tuple):
        side, orders = step
        gone = [result for result in model if result[side] in orders]
        assert _rows(index.leave(side, np.array(sorted(orders), dtype=np.int64))) == sorted(gone)
        model[:] = [result for result in model if result[side] not in orders]
    assert len(index) == len(model)


def _all(index: OrderIndex) -> Counter[Result]:
    other = OrderIndex()
    other.restore(index.snapshot())
    return Counter(_rows(other.leave(LEFT, np.arange(7))))


def _rows(lanes: tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...] | None) -> list[Result]:
    return [] if lanes is None else sorted(zip(*(lane.tolist() for lane in lanes), strict=True))
