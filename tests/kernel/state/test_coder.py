"""Codes are equal exactly where keys are, over any number of batches; would catch a table or packing that collides."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import NULL
from thalweg.kernel.state.coder import KeyCoder, LaneCoder

NUMBERS = st.integers(-5, 5) | st.integers(-(2**62), 2**62) | st.just(int(NULL))


@given(st.lists(st.lists(NUMBERS, max_size=6), max_size=5))
def test_one_lane(batches: list[list[int]]) -> None:
    coder, seen = LaneCoder(), dict[int, int]()
    for batch in batches:
        codes = coder.encode(np.array(batch, dtype=np.int64)).tolist()
        for value, code in zip(batch, codes, strict=True):
            assert seen.setdefault(value, code) == code
    assert sorted(seen.values()) == list(range(len(seen))) == list(range(coder.size))


@given(st.integers(0, 3), st.data())
def test_several_lanes(width: int, data: st.DataObject) -> None:
    coder, seen = KeyCoder(width), dict[tuple[int, ...], int]()
    for _ in range(3):
        rows = data.draw(st.lists(st.tuples(*[NUMBERS] * width), max_size=6))
        lanes = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(width)]
        for row, code in zip(rows, coder.encode(lanes, len(rows)).tolist(), strict=True):
            assert seen.setdefault(row, code) == code
            assert 0 <= code < coder.size
    assert len(set(seen.values())) == len(seen)


def test_a_lane_of_doubles_is_coded_by_value() -> None:
    codes = KeyCoder(1).encode([np.array([0.0, -0.0, 1.5, np.nan, np.nan])], 5)
    assert codes.tolist() == [codes[0], codes[0], codes[2], codes[3], codes[3]]
    assert len(set(codes.tolist())) == 3
