"""Lanes keep every value and every NULL; would catch a NULL that becomes a number, or -0.0 that is not 0.0."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import from_lane, identity, is_null, null_lane, sortable, to_lane
from thalweg.core.strings import StringPool
from thalweg.core.types import INT64_MAX, DataType

VALUES: dict[DataType, st.SearchStrategy[object]] = {
    DataType.BIGINT: st.integers(-INT64_MAX, INT64_MAX),
    DataType.TIMESTAMP: st.integers(-(10**15), 10**15),
    DataType.INTERVAL: st.integers(-(10**15), 10**15),
    DataType.BOOLEAN: st.booleans(),
    DataType.DOUBLE: st.floats(allow_nan=False),
    DataType.STRING: st.text(max_size=3),
}


@given(st.data(), st.sampled_from(list(VALUES)))
def test_there_and_back(data: st.DataObject, type_: DataType) -> None:
    values = data.draw(st.lists(st.none() | VALUES[type_], max_size=8))
    array, pool = pa.array(values, type_.arrow), StringPool()
    lane = to_lane(array, type_, pool)
    assert from_lane(lane, type_, pool).equals(array)
    assert is_null(lane).tolist() == [v is None for v in values]


@given(st.lists(st.none() | st.floats(allow_nan=False), max_size=8))
def test_identity_is_equality(values: list[float | None]) -> None:
    lane = identity(to_lane(pa.array(values, pa.float64()), DataType.DOUBLE, StringPool()))
    for i, a in enumerate(values):
        assert [bool(x) for x in lane == lane[i]] == [a == b for b in values]


def test_null_lanes() -> None:
    assert is_null(null_lane(DataType.DOUBLE, 2)).all()
    assert is_null(null_lane(DataType.STRING, 2)).all()


@given(st.lists(st.text(max_size=3), max_size=6), st.lists(st.text(max_size=3), max_size=6))
def test_strings_sort_by_code_point_however_they_came(first: list[str], second: list[str]) -> None:
    pool = StringPool()
    pool.encode(pa.array(first, pa.string()))
    codes = pool.encode(pa.array(second, pa.string()))
    ranks = sortable(codes, DataType.STRING, pool)
    assert [second[i] for i in np.argsort(ranks, kind="stable")] == sorted(second)
