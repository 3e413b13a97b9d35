"""Cells and values.

Catches a value that does not survive being written into a scenario and read back: rewriting a file would change it.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.rows import Value
from thalweg.core.schema import Field
from thalweg.core.source_text import SourceText, Span
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP, Clock
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.scenarios.cells import split_cells, without_comment
from thalweg.scenarios.values import read_row, read_time, show_time, show_value

TYPED: st.SearchStrategy[tuple[DataType, Value]] = st.one_of(
    st.tuples(st.just(DataType.BOOLEAN), st.booleans()),
    st.tuples(st.just(DataType.BIGINT), st.integers(INT64_MIN, INT64_MAX)),
    st.tuples(st.just(DataType.DOUBLE), st.floats(allow_nan=False)),
    st.tuples(st.just(DataType.STRING), st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))),
    st.tuples(st.just(DataType.STRING), st.sampled_from(["NULL", "null", "it's", "'", "''", "#", " a | b # ''c"])),
    st.tuples(st.just(DataType.TIMESTAMP), st.integers(FIRST_TIMESTAMP, LAST_TIMESTAMP)),
    st.tuples(st.just(DataType.TIMESTAMP), st.integers(0, 86_400_000_000)),
    st.tuples(st.just(DataType.INTERVAL), st.integers(-(2**50), 2**50)),
    st.tuples(st.sampled_from([t for t in DataType if t is not DataType.NULL]), st.none()),
)


@given(st.lists(TYPED, min_size=1, max_size=4))
def test_a_row_survives_being_written_and_read(typed: list[tuple[DataType, Value]]) -> None:
    text = " | ".join(show_value(value, type_) for type_, value in typed) + "  # 'a | comment"
    line = without_comment(Span(SourceText(text), 0, len(text)))
    row = read_row(split_cells(line), [Field("c", type_) for type_, _ in typed])
    assert [(type(value), value) for value in row] == [(type(value), value) for _, value in typed]


@given(st.integers(FIRST_TIMESTAMP, LAST_TIMESTAMP), st.sampled_from(Clock))
def test_a_time_survives_being_written_and_read(t: int, clock: Clock) -> None:
    text = show_time(t, clock)
    (cell,) = split_cells(Span(SourceText(text), 0, len(text)))
    assert read_time(cell, clock) == t
