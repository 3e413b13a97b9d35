"""Would catch a count window that breaks ties by chance, a partition that leaks, or a range cut before the count."""

from __future__ import annotations

import pytest

from algebra.windows.draw import arrivals, keyed, rows_at, shown
from thalweg.algebra.windows import PartitionedRows, Range, Rows, ValueRange
from thalweg.core.errors import WindowError
from thalweg.core.rows import Arrival
from thalweg.core.types import DataType


def test_rows_keeps_the_last_n_and_starts_half_filled() -> None:
    # t       1   2    3    4    5
    # arrive  a   b    .    c    d
    assert shown(Rows(2), arrivals("ab.cd"), range(6)) == "- a ab ab bc cd"


def test_ties_at_the_edge_are_broken_by_order_of_arrival() -> None:
    # t       1     2
    # arrive  abc   d      of a, b, c the two that arrived last
    assert shown(Rows(2), arrivals("(abc)d"), range(1, 3)) == "bc cd"


def test_rows_with_slide_lets_in_m_at_a_time() -> None:
    # t       1   2    3    4     5     6
    # arrive  a   b    c    d     e     .
    # let in  0   2    2    4     4     4
    assert shown(Rows(3, 2), arrivals("abcde."), range(1, 7)) == "- ab ab bcd bcd bcd"


def test_a_burst_can_pass_through_several_slides_in_one_instant() -> None:
    # t       1        2
    # arrive  abcde    f       let in: 4, then 6
    assert shown(Rows(2, 2), arrivals("(abcde)f"), range(1, 3)) == "cd ef"


def test_tumbling_rows() -> None:
    assert Rows(2, 2).is_tumbling
    assert shown(Rows(2, 3), arrivals("abcdef"), range(1, 7)) == "- - bc bc bc ef"


def test_each_partition_keeps_its_own_last_n() -> None:
    # t       1    2       3       4
    # arrive  x    y       x       x       the y stays, however many x come
    given = [Arrival(t, t, (k, t)) for t, k in [(1, "x"), (2, "y"), (3, "x"), (4, "x")]]
    window = PartitionedRows((0,), 2)
    assert rows_at(window, given, 3) == [("x", 1), ("y", 2), ("x", 3)]
    assert rows_at(window, given, 4) == [("y", 2), ("x", 3), ("x", 4)]


def test_null_is_a_partition_like_any_other() -> None:
    assert rows_at(PartitionedRows((0,), 1), keyed((1, None), (2, "x"), (3, None)), 3) == [("x",), (None,)]


def test_the_count_comes_before_the_range() -> None:
    # PARTITION BY k ROWS 1 RANGE 4
    # t       1   2     3     4     5     6   7
    # arrive  x   y     x     .     .     .   .
    # shows   x1  x1y2  y2x3  y2x3  y2x3  x3  -
    window = PartitionedRows((0,), 1, Range(4))
    assert shown(window, arrivals("xyx...."), range(1, 8)) == "x xy yx yx yx x -"


def test_a_range_with_slide_counts_only_what_it_has_let_in() -> None:
    # PARTITION BY k ROWS 1 RANGE 4 SLIDE 4: at 5 the x of 5 waits for the slide at 8, so the x of 2 still stands
    # t       1   2   3   4    5    6   7   8
    # arrive  .   x   .   y    x    .   .   .
    # end     0   0   0   4    4    4   4   8
    window = PartitionedRows((0,), 1, Range(4, 4))
    assert shown(window, arrivals(".x.yx..."), range(1, 9)) == "- - - xy xy xy xy x"


def test_values_serve_as_a_clock() -> None:
    # RANGE 10 ON a
    # a       5     12      3         16
    # m - 10  -5    2       2         6
    window = ValueRange(0, 10, DataType.BIGINT)
    given = keyed((1, 5), (2, 12), (3, 3), (4, 16))
    assert [rows_at(window, given, t) for t in range(5)] == [
        [], [(5,)], [(5,), (12,)], [(5,), (12,), (3,)], [(12,), (16,)]
    ]  # fmt: skip


def test_the_lower_value_bound_is_open_and_null_is_never_in() -> None:
    window = ValueRange(0, 1.5, DataType.DOUBLE)
    assert rows_at(window, keyed((1, None), (1, 0.5), (1, 1.0), (1, 2.0)), 1) == [(1.0,), (2.0,)]
    assert rows_at(window, keyed((1, None)), 1) == []


def test_extents_that_make_no_sense_are_refused() -> None:
    with pytest.raises(WindowError, match="ROWS must be greater than zero, got 0"):
        Rows(0)
    with pytest.raises(WindowError, match="PARTITION BY needs at least one column"):
        PartitionedRows((), 1)
    with pytest.raises(WindowError, match="needs a number or a timestamp, the column is STRING"):
        ValueRange(0, 1, DataType.STRING)
    with pytest.raises(WindowError, match="RANGE must be greater than zero"):
        ValueRange(0, 0, DataType.BIGINT)
