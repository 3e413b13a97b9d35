"""Would catch an index that misses a tuple, or that makes a probe look at many dead ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.feeds import examples
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.state.code_index import CodeIndex
from thalweg.state.time_index import TimeIndex

CODES = [st.integers(0, 4), st.integers(0, 10_000), st.sampled_from([7, 2**31 - 2])]
CLOCKS = {"ticks": 1, "microseconds of years": 10**13, "beyond what fits beside a code": 2**55}


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


@pytest.mark.parametrize("clock", CLOCKS)
@examples(60)
@given(data=st.data())
def test_everything_alive_is_found(clock: str, data: st.DataObject) -> None:
    tick = CLOCKS[clock]
    instants, lifetimes = st.integers(0, 30), st.integers(1, 12)
    ends = st.builds(lambda start, life: (start, start + life), instants, lifetimes)
    lives = data.draw(st.lists(st.tuples(st.integers(0, 3), ends | st.tuples(instants, st.just(FOREVER // tick)))))
    codes, start, end = (np.array(lane, dtype=np.int64) for lane in _lanes(lives))
    start, end = start * tick, np.where(end == FOREVER // tick, FOREVER, end * tick)
    index = TimeIndex(codes, start, end)
    asked = data.draw(st.lists(st.tuples(st.integers(-1, 5), ends), max_size=12))
    who, since, until = (np.array(lane, dtype=np.int64) for lane in _lanes(asked))
    found = zip(*index.find(who, since * tick, until * tick), strict=True)
    for code, a, b, (first, count) in zip(who, since * tick, until * tick, found, strict=True):
        places = set(index.order[first : first + count].tolist())
        alive = set(np.flatnonzero((codes == code) & (start < b) & (end > a)).tolist())
        assert alive <= places
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


def _lanes(lives: list[tuple[int, tuple[int, int]]]) -> tuple[list[int], list[int], list[int]]:
    return [code for code, _ in lives], [start for _, (start, _) in lives], [end for _, (_, end) in lives]
