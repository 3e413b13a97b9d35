"""Would catch an index that misses a tuple, or that makes a probe look at many dead ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.lanes import Ints
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.kernel.state.indexes import CodeIndex, TimeIndex

CODES = [st.integers(0, 4), st.integers(0, 10_000), st.sampled_from([7, 2**31 - 2])]


@examples(60)
@given(st.data())
def test_slices_by_code(data: st.DataObject) -> None:
    numbers = data.draw(st.sampled_from(CODES))
    codes = np.array(sorted(data.draw(st.lists(numbers, max_size=20))), dtype=np.int64)
    asked = np.array(data.draw(st.lists(numbers | st.just(-1), max_size=20)), dtype=np.int64)
    first, count = CodeIndex(codes).find(asked)
    for code, a, n in zip(asked.tolist(), first.tolist(), count.tolist(), strict=True):
        assert list(range(a, a + n)) == (np.flatnonzero(codes == code).tolist() if n else [])
        assert n == (codes == code).sum()


@pytest.mark.parametrize("far", [False, True])
@examples(60)
@given(data=st.data())
def test_everything_alive_is_found(far: bool, data: st.DataObject) -> None:
    instants, lifetimes = st.integers(0, 30), st.integers(1, 12)
    spans = st.builds(lambda start, life: (start, start + life), instants, lifetimes)
    lives = data.draw(st.lists(st.tuples(st.integers(0, 3), spans | st.tuples(instants, st.just(FOREVER)))))
    if far:  # then codes and times do not fit side by side
        lives.append((2**30, (0, 2**61)))
    codes, start, end = _lanes(lives)
    index = TimeIndex(codes, start, end)
    who, since, until = _lanes(data.draw(st.lists(st.tuples(st.integers(-1, 5), spans), max_size=12)))
    for code, a, b, first, count in zip(who, since, until, *index.find(who, since, until), strict=True):
        places = set(index.order[first : first + count].tolist())
        assert set(np.flatnonzero((codes == code) & (start < b) & (end > a)).tolist()) <= places
        assert (codes[list(places)] == code).all()


def test_first_in_first_out_finds_nothing_else() -> None:
    start = np.repeat(np.arange(1000), 2)
    codes = np.tile([0, 1], 1000)
    index = TimeIndex(codes, start, start + 10)
    _, count = index.find(np.zeros(900, dtype=np.int64), np.arange(100, 1000), np.arange(100, 1000) + 1)
    assert count.max() == 10  # those that started in (t - 10, t]


def test_nothing_in_it() -> None:
    none = np.empty(0, dtype=np.int64)
    asked = np.array([0, 5])
    assert TimeIndex(none, none, none).find(asked, np.array([BEGINNING, 0]), np.array([3, FOREVER]))[1].tolist() == [
        0,
        0,
    ]


def _lanes(lives: list[tuple[int, tuple[int, int]]]) -> tuple[Ints, Ints, Ints]:
    codes, starts, ends = ([code for code, _ in lives], [life[0] for _, life in lives], [life[1] for _, life in lives])
    return np.array(codes, dtype=np.int64), np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)
