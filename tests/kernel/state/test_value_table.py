"""Codes are equal exactly where keys are, over any number of batches; would catch a table or packing that collides."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import NULL
from thalweg.kernel.state.table import KeyTable

NUMBERS = st.integers(-5, 5) | st.integers(-(2**62), 2**62) | st.just(int(NULL))


@given(st.lists(st.lists(NUMBERS, max_size=6), max_size=5))
def test_one_lane(batches: list[list[int]]) -> None:
    coder, seen = KeyTable.of_width(1), dict[int, int]()
    for batch in batches:
        codes = coder.encode([np.array(batch, dtype=np.int64)], len(batch)).tolist()
        for value, code in zip(batch, codes, strict=True):
            assert seen.setdefault(value, code) == code
    assert sorted(seen.values()) == list(range(len(seen))) == list(range(coder.size))


@given(st.integers(0, 3), st.data())
def test_several_lanes(width: int, data: st.DataObject) -> None:
    coder, seen = KeyTable.of_width(width), dict[tuple[int, ...], int]()
    for _ in range(3):
        rows = data.draw(st.lists(st.tuples(*[NUMBERS] * width), max_size=6))
        lanes = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(width)]
        for row, code in zip(rows, coder.encode(lanes, len(rows)).tolist(), strict=True):
            assert seen.setdefault(row, code) == code
            assert 0 <= code < coder.size
    assert len(set(seen.values())) == len(seen)


def test_a_lane_of_doubles_is_coded_by_value() -> None:
    codes = KeyTable.of_width(1).encode([np.array([0.0, -0.0, 1.5, np.nan, np.nan])], 5)
    assert codes.tolist() == [codes[0], codes[0], codes[2], codes[3], codes[3]]
    assert len(set(codes.tolist())) == 3


@pytest.mark.parametrize("step", [1, 7, 10**9], ids=["neighbours", "close", "far apart"])
def test_codes_and_memory_stay_as_many_as_keys_are_named(step: int) -> None:
    table, named = KeyTable.of_width(1), np.empty(0, dtype=np.int64)
    for i in range(400):
        key = (np.arange(1000) + 500 * i) * step
        named = table.encode([key], len(key))
        table.forget(partial(list, [named]))
        assert table.decode(named)[0].tolist() == key.tolist()
    assert table.size <= 2000
    assert table._lanes[0].values.nbytes <= 64_000
    if table._narrow is not None:
        assert len(table._narrow._entries) <= 1 << 20


def test_room_is_given_back_after_a_rush() -> None:
    table = KeyTable.of_width(1)
    for i, size in enumerate((100_000, 10, 10, 10)):
        named = table.encode([np.arange(size) + 1_000_000 * i], size)
        table.forget(partial(list, [named]))
    assert table.size <= 20 and len(table._lanes[0].values) <= 64
