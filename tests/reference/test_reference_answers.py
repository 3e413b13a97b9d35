"""Would catch an answer that is not the one-time query's: NULL logic, vanished groups, bag counts, half-filled windows.

It also pins down what the papers leave open.
"""

from __future__ import annotations

import pytest

from reference.by_hand import STREAMS, TABLE, col, equal, history_of, over, rows, values
from thalweg.algebra.expressions import Aggregate, call, literal
from thalweg.algebra.plan import (
    GroupBy,
    IStream,
    Join,
    Named,
    NamedAggregate,
    Negation,
    Plan,
    PlanNode,
    Project,
    Select,
    SemiJoin,
    SortKey,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History


def aggregated(child: Plan, *functions: str, keys: tuple[int, ...] = ()) -> GroupBy:
    made = (Aggregate.of("count") if f == "count" else Aggregate.of(f, col(child, 1)) for f in functions)
    return GroupBy(
        child,
        tuple(Named(col(child, k), "k") for k in keys),
        tuple(NamedAggregate(a, a.function) for a in made),
    )


def test_a_half_filled_window_answers_with_what_there_is() -> None:
    # t       1   2   3   4   5   6
    # arrive  a   .   b   c   .   .       COUNT over RANGE 4 and over ROWS 2
    history = history_of(s=[(1, (1, 1)), (3, (1, 1)), (4, (1, 1))])
    by_time, by_count = (aggregated(over("s", w), "count") for w in (Range(4), Rows(2)))
    assert [values(by_time, history, t) for t in range(9)] == [[0], [1], [1], [2], [3], [2], [2], [1], [0]]
    assert [values(by_count, history, t) for t in range(6)] == [[0], [1], [1], [2], [2], [2]]


def test_a_vanished_group_leaves_and_a_global_aggregate_stays() -> None:
    history = history_of(s=[(1, (1, 5)), (2, (None, 7))])
    window = over("s", Range(2))
    grouped, whole = aggregated(window, "sum", keys=(0,)), aggregated(window, "count", "sum", "avg")
    assert [rows(grouped, history, t) for t in (0, 1, 2, 3, 4)] == [
        [], [(1, 5)], [(1, 5), (None, 7)], [(None, 7)], []
    ]  # fmt: skip
    assert [rows(whole, history, t) for t in (0, 2, 4)] == [[(0, None, None)], [(2, 12, 6.0)], [(0, None, None)]]


def test_joining_a_negation_is_not_negating_a_join() -> None:
    # v1 = 2 rows of s, v2 = 1 of t, v3 = 2 of u: (2 - 1) * 2 = 2 pushed down, 2 * 2 - 1 = 3 pulled up
    history = history_of(s=[(1, (1, 1))] * 2, t=[(1, (1, 1))], u=[(1, (1, 0.5, "a"))] * 2)
    s, t, u = (over(name, Unbounded()) for name in "stu")
    negation = Negation(s, t, ((0, 0),))
    pushed_down = Join(negation, u, equal(negation, 0, u, 0))
    pulled_up = Negation(Join(s, u, equal(s, 0, u, 0)), t, ((0, 0),))
    assert len(rows(pushed_down, history, 1)) == 2
    assert len(rows(pulled_up, history, 1)) == 3


def test_joining_an_anti_join_is_anti_joining_a_join() -> None:
    history = history_of(s=[(1, (1, 1))] * 2 + [(1, (2, 1))], t=[(1, (1, 1))], u=[(1, (2, 0.5, "a"))] * 2)
    s, t, u = (over(name, Unbounded()) for name in "stu")
    anti = SemiJoin(s, t, equal(s, 0, t, 0), anti=True)
    joined = Join(s, u, equal(s, 0, u, 0))
    pushed_down, pulled_up = Join(anti, u, equal(anti, 0, u, 0)), SemiJoin(joined, t, equal(joined, 0, t, 0), anti=True)
    assert rows(pushed_down, history, 1) == rows(pulled_up, history, 1) == [(2, 1, 2, 0.5, "a")] * 2


def test_not_in_is_emptied_by_one_null_and_by_nothing_else() -> None:
    history = history_of(s=[(1, (1, 1)), (1, (None, 1))], t=[(2, (2, 0)), (4, (None, 0))])
    s, t = over("s", Unbounded()), over("t", Unbounded())
    same = equal(s, 0, t, 0)
    not_in = SemiJoin(s, t, call("or", same, call("is_null", same)), anti=True)
    not_exists = SemiJoin(s, t, same, anti=True)
    assert [rows(not_in, history, at) for at in (1, 2, 4)] == [[(1, 1), (None, 1)], [(1, 1)], []]
    assert rows(not_exists, history, 4) == [(1, 1), (None, 1)]


def test_a_condition_that_is_null_keeps_nothing() -> None:
    history = history_of(s=[(1, (None, 1)), (1, (1, 1))], t=[(1, (None, 1))])
    s, t = over("s", Unbounded()), over("t", Unbounded())
    assert rows(Select(s, call("<>", col(s, 0), literal(5))), history, 1) == [(1, 1)]
    assert rows(Join(s, t, equal(s, 0, t, 0)), history, 1) == []


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (SortKey, [(1, 0), (1, 3), (2, 1)]),
        (lambda e: SortKey(e, descending=True), [(2, 1), (1, 0), (1, 3)]),
        (lambda e: SortKey(e, nulls_first=True), [(None, 9), (1, 0), (1, 3)]),
        (lambda e: SortKey(e, descending=True, nulls_first=True), [(None, 9), (2, 1), (1, 0)]),
    ],
)
def test_top_k_orders_ties_by_the_whole_row_and_nulls_last(key: type[SortKey], expected: list[Row]) -> None:
    history = history_of(s=[(1, (1, 3)), (1, (None, 9)), (1, (2, 1)), (1, (1, 0))])
    window = over("s", Unbounded())
    found = Reference(TopK(window, (key(col(window, 0)),), 3), history).tuples(1)
    assert [d.row for d in found] == expected


def test_the_first_sort_key_counts_most() -> None:
    history = history_of(s=[(1, (1, 3)), (1, (2, 1)), (1, (1, 0))])
    window = over("s", Unbounded())
    by = (SortKey(col(window, 0), descending=True), SortKey(col(window, 1), descending=True))
    assert [d.row for d in Reference(TopK(window, by, 2), history).tuples(1)] == [(2, 1), (1, 3)]


def test_different_windows_on_the_two_sides_of_a_join() -> None:
    # Q3 of PatroumpasSellis2011: a landmark beside a sliding window
    # t            1    2     3    4    5
    # s START AT 2      a          b
    # t RANGE 2         x     .         y      x is alive at 2 and 3, y from 5
    history = history_of(s=[(1, (1, 0)), (2, (1, 1)), (4, (1, 2))], t=[(2, (1, 8)), (5, (1, 9))])
    left, right = over("s", Landmark(start=2)), over("t", Range(2))
    join = Join(left, right, equal(left, 0, right, 0))
    pairs = {t: [(row[1], row[3]) for row in rows(join, history, t)] for t in range(1, 7)}
    assert pairs == {1: [], 2: [(1, 8)], 3: [(1, 8)], 4: [], 5: [(1, 9), (2, 9)], 6: [(1, 9), (2, 9)]}


def test_a_stream_without_window_is_everything_so_far() -> None:
    history = history_of(s=[(1, (1, 1)), (3, (1, 1))])
    assert [len(rows(STREAMS["s"], history, t)) for t in (0, 1, 2, 3, 9)] == [0, 1, 1, 2, 2]


def test_a_window_over_a_selection_counts_what_was_selected() -> None:
    # the last 2 of those with v > 0, not those with v > 0 of the last 2
    history = history_of(s=[(1, (1, 5)), (2, (1, 6)), (3, (1, 0)), (4, (1, 0))])
    positive = Select(STREAMS["s"], call(">", col(STREAMS["s"], 1), literal(0)))
    assert values(Windowed(positive, Rows(2)), history, 4) == [5, 6]
    inside = over("s", Rows(2))
    assert rows(Select(inside, call(">", col(inside, 1), literal(0))), history, 4) == []


def test_selections_and_projections_keep_the_order_of_arrival_other_derived_streams_order_ties_by_value() -> None:
    history = history_of(s=[(1, (1, 9)), (1, (1, 2)), (1, (1, None)), (1, (1, 5))])
    projected = Project(STREAMS["s"], (Named(col(STREAMS["s"], 1), "v"),))
    assert values(over("s", Rows(2)), history, 1) == [5, None]
    assert values(Windowed(projected, Rows(2)), history, 1) == [5, None]
    assert values(Windowed(Union(STREAMS["s"], STREAMS["t"]), Rows(2)), history, 1) == [9, None]


def test_windows_over_a_union_and_over_a_join_of_streams() -> None:
    # t      1   2   3   4   5
    # s      a           b
    # t          x   .   .   y
    history = history_of(s=[(1, (1, 1)), (4, (1, 4))], t=[(2, (1, 2)), (5, (1, 5))])
    s, t = STREAMS["s"], STREAMS["t"]
    union = Windowed(Union(s, t), Range(3))
    assert [values(union, history, at) for at in range(1, 8)] == [[1], [1, 2], [1, 2], [2, 4], [4, 5], [4, 5], [5]]
    # A pair is dated when its later half arrives: (1,2) at 2, (4,2) at 4, (1,5) and (4,5) at 5.
    join = Windowed(Join(s, t, equal(s, 0, t, 0)), Range(2))
    pairs = {at: [(row[1], row[3]) for row in rows(join, history, at)] for at in range(1, 8)}
    assert pairs == {
        1: [], 2: [(1, 2)], 3: [(1, 2)], 4: [(4, 2)], 5: [(1, 5), (4, 2), (4, 5)], 6: [(1, 5), (4, 5)], 7: []
    }  # fmt: skip


def test_a_window_over_istream_remembers_what_the_relation_has_lost() -> None:
    # the last 2 distinct (k, v) that entered NOW, long after NOW is empty again
    history = history_of(s=[(1, (1, 1)), (4, (1, 2)), (6, (1, 3))])
    plan = Windowed(IStream(over("s", Now())), Rows(2))
    assert [values(plan, history, t) for t in (0, 1, 3, 4, 5, 6, 9)] == [
        [], [1], [1], [1, 2], [1, 2], [2, 3], [2, 3]
    ]  # fmt: skip


def test_partitions_of_a_derived_stream() -> None:
    history = history_of(s=[(1, (1, 1)), (2, (2, 2)), (3, (1, 3))])
    doubled = Project(
        STREAMS["s"],
        (Named(col(STREAMS["s"], 0), "k"), Named(call("*", col(STREAMS["s"], 1), literal(2)), "w")),
    )
    assert rows(Windowed(doubled, PartitionedRows((0,), 1)), history, 3) == [(1, 6), (2, 4)]


def test_table_updates_change_the_answer_at_once() -> None:
    history = history_of({"r": [(2, "+", (1, "a")), (4, "-", (1, "a"))]})
    plan = GroupBy(TABLE, (), (NamedAggregate(Aggregate.of("count"), "n"),))
    assert [values(plan, history, t) for t in (1, 2, 3, 4)] == [[0], [1], [1], [0]]


def test_an_unknown_operator_is_refused() -> None:
    class Strange(PlanNode):
        @property
        def schema(self) -> Schema:
            return Schema(())

    with pytest.raises(AssertionError, match="Strange"):
        Reference(Strange(), History()).answer(1)  # type: ignore[arg-type]
