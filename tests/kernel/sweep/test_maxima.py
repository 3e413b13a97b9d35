"""Maxima within runs and over intervals, against loops; would catch a maximum that leaks into a neighbouring run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import NULL
from thalweg.kernel.sweep.maxima import cover, maxima_so_far

_INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(-5, 5)), max_size=12)


@given(_INTERVALS)
def test_cover(intervals: list[tuple[int, int, int]]) -> None:
    start, stop, value = (np.array([i[k] for i in intervals], dtype=np.int64) for k in range(3))
    wanted = [max((v for a, b, v in intervals if a <= place < b), default=int(NULL)) for place in range(40)]
    assert cover(40, start, stop, value).tolist() == wanted


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), max_size=40))
def test_maxima_so_far(rows: list[tuple[int, bool]]) -> None:
    starts = [i == 0 or start for i, (_, start) in enumerate(rows)]
    wanted: list[int] = []
    for (value, _), start in zip(rows, starts, strict=True):
        wanted.append(value if start else max(value, wanted[-1]))
    values = np.array([value for value, _ in rows], dtype=np.int64)
    assert maxima_so_far(values, np.array(starts, dtype=np.bool_)).tolist() == wanted
