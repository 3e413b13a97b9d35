"""The array by group against a dictionary: would catch a slot that is not overwritten, or a wrong count of groups."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.types import DataType
from thalweg.kernel.state.buffers import GroupArray

STEPS = st.lists(st.dictionaries(st.integers(0, 60), st.one_of(st.none(), st.integers(-9, 9)), max_size=6), max_size=12)


@given(STEPS, st.integers(0, 12))
def test_against_a_dictionary(steps: list[dict[int, int | None]], moved: int) -> None:
    array, groups = GroupArray([DataType.BIGINT, DataType.DOUBLE]), dict[int, int]()
    for number, step in enumerate(steps):
        if number == moved:
            other = GroupArray([DataType.BIGINT, DataType.DOUBLE])
            other.restore(array.snapshot())
            array = other
        codes = np.array(sorted(step), dtype=np.int64)
        values = [step[code] for code in codes.tolist()]
        present = np.array([value is not None for value in values], dtype=np.bool_)
        numbers = np.array([value or 0 for value in values], dtype=np.int64)
        array.fit(int(codes.max(initial=0)) + 1)
        array.overwrite(codes, present, [numbers, numbers / 2])
        for code, value in step.items():
            groups.pop(code, None)
            if value is not None:
                groups[code] = value
        shown = np.flatnonzero(array.present).tolist()
        assert {code: int(array.lanes[0][code]) for code in shown} == groups
        assert all(array.lanes[1][code] == groups[code] / 2 for code in shown)
        assert len(array) == len(groups)
    assert array.nbytes == len(array.present) * (1 + 8 + 8)
