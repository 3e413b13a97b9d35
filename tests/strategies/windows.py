"""Windows of every kind, small enough that a short history fills, slides and empties them."""

from __future__ import annotations

from hypothesis import strategies as st

from thalweg.algebra.windows import (
    Landmark,
    LogicalWindow,
    Now,
    PartitionedRows,
    Range,
    Rows,
    Unbounded,
    ValueRange,
    Window,
)
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

_INSTANTS = st.integers(-2, 12)
_ORIGINS = st.integers(-3, 7)


def ranges() -> st.SearchStrategy[Range]:
    """Sliding, hopping and tumbling windows, and those that skip tuples."""
    smooth = st.builds(Range, st.integers(1, 8))
    stepped = st.builds(Range, st.integers(1, 8), st.integers(2, 5), st.just(0) | _ORIGINS)
    return smooth | stepped


def landmarks() -> st.SearchStrategy[Landmark]:
    """Lower-bounded, upper-bounded and fixed-band windows."""
    lower = st.builds(lambda x: Landmark(start=x), _INSTANTS)
    upper = st.builds(lambda y: Landmark(end=y), _INSTANTS)
    band = st.builds(lambda x, length: Landmark(x, x + length), _INSTANTS, st.integers(0, 6))
    return lower | upper | band


def logical_windows() -> st.SearchStrategy[LogicalWindow]:
    """Windows over timestamps."""
    return st.one_of(ranges(), st.just(Now()), landmarks(), st.just(Unbounded()))


def windows(schema: Schema) -> st.SearchStrategy[Window]:
    """Any window that fits a stream of this schema. Sliding windows come most often and shrink first."""
    keys = st.lists(st.integers(0, len(schema) - 1), min_size=1, max_size=2, unique=True).map(tuple)
    kinds: list[st.SearchStrategy[Window]] = [
        ranges(),
        st.builds(Rows, st.integers(1, 4)),
        st.builds(PartitionedRows, keys, st.integers(1, 2)),
        st.just(Now()),
        landmarks(),
        st.builds(Rows, st.integers(1, 4), st.integers(2, 3)),
        st.builds(PartitionedRows, keys, st.integers(1, 2), ranges()),
        st.just(Unbounded()),
    ]
    for position, field in enumerate(schema):
        if field.type is DataType.BIGINT:
            kinds.append(st.builds(ValueRange, st.just(position), st.integers(1, 3), st.just(field.type)))
        if field.type is DataType.DOUBLE:
            kinds.append(st.builds(ValueRange, st.just(position), st.sampled_from([0.5, 2.0]), st.just(field.type)))
    return st.one_of(kinds)
