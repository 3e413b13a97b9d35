"""The array idioms against plain loops."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.kernel.sweep.segments import rank_within, run_ends, run_starts, slices_to_rows, sums_within


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4)), max_size=8))
def test_slices(slices: list[tuple[int, int]]) -> None:
    first, count = (np.array([s[i] for s in slices], dtype=np.int64) for i in (0, 1))
    assert slices_to_rows(first, count).tolist() == [f + i for f, n in slices for i in range(n)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3)), max_size=12))
def test_runs(rows: list[tuple[int, int]]) -> None:
    rows = sorted(rows, key=lambda r: r[0])
    keys, values = (np.array([r[i] for r in rows], dtype=np.int64) for i in (0, 1))
    runs = [list(run) for _, run in groupby(rows, key=lambda r: r[0])]
    starts = run_starts(keys)
    assert rank_within(starts).tolist() == [i for run in runs for i in range(len(run))]
    assert sums_within(values, starts).tolist() == [
        sum(v for _, v in run[: i + 1]) for run in runs for i in range(len(run))
    ]
    assert run_ends(starts).tolist() == [i == len(run) - 1 for run in runs for i in range(len(run))]
