"""Would catch wrong dates: they decide what an NRR join meets, which rows a negation keeps, and what RSTREAM emits."""

from __future__ import annotations

from collections import Counter

from reference.by_hand import NRR, TABLE, col, equal, history_of, over
from reference.oracle.one_time import Oracle
from thalweg.algebra.expressions import TRUE, Aggregate, call, literal
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    Intersect,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    Select,
    SemiJoin,
    SortKey,
    TopK,
    Union,
)
from thalweg.algebra.windows import Now, Range, Unbounded
from thalweg.core.rows import Dated, Row, row_key
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History


def dated(plan: Plan, history: History, t: Instant) -> list[Dated]:
    """Q(t) with dates, on which the reference and DuckDB must agree."""
    found = Reference(plan, history).tuples(t)
    assert Counter(Oracle(history).tuples(plan, t)) == Counter(found)
    return sorted(found, key=lambda d: (row_key(d.row), d.ts))


def rows(plan: Plan, history: History, t: Instant) -> list[Row]:
    return [d.row for d in dated(plan, history, t)]


def count(child: Plan) -> GroupBy:
    return GroupBy(child, (), (NamedAggregate(Aggregate.of("count"), "n"),))


def test_a_join_is_as_young_as_its_youngest_and_ends_with_its_first() -> None:
    # s  [RANGE 10]   (1, 7) at 2 .............. exp 12
    # t  [RANGE 3]         (1, 8) at 5 .. exp 8
    history = history_of(s=[(2, (1, 7))], t=[(5, (1, 8))])
    left, right = over("s", Range(10)), over("t", Range(3))
    assert dated(Join(left, right, equal(left, 0, right, 0)), history, 6) == [Dated((1, 7, 1, 8), 5, 8)]


def test_a_relation_never_decides_a_joins_dates() -> None:
    history = history_of({"r": [(4, "+", (1, "a"))]}, s=[(2, (1, 7))])
    left = over("s", Range(10))
    assert dated(Join(left, TABLE, equal(left, 0, TABLE, 0)), history, 5) == [Dated((1, 7, 1, "a"), 2, 12)]
    assert dated(TABLE, history, 5) == [Dated((1, "a"), BEGINNING, FOREVER)]


def test_unmatched_rows_of_outer_joins_keep_their_own_dates() -> None:
    history = history_of(s=[(2, (1, 7))], t=[(3, (2, 8))])
    left, right = over("s", Range(10)), over("t", Range(5))
    join = Join(left, right, equal(left, 0, right, 0), JoinKind.FULL)
    assert set(dated(join, history, 4)) == {Dated((1, 7, None, None), 2, 12), Dated((None, None, 2, 8), 3, 8)}


def test_semi_and_anti_joins_keep_the_lefts_dates() -> None:
    history = history_of(s=[(2, (1, 7)), (2, (2, 7))], t=[(5, (1, 8))])
    left, right = over("s", Range(10)), over("t", Range(3))
    assert dated(SemiJoin(left, right, equal(left, 0, right, 0)), history, 6) == [Dated((1, 7), 2, 12)]
    assert dated(SemiJoin(left, right, equal(left, 0, right, 0), anti=True), history, 6) == [Dated((2, 7), 2, 12)]


def test_distinct_takes_the_latest_appearance_and_the_last_expiry_apart() -> None:
    # s [RANGE 20]  (1, 1) at 1 ................. exp 21
    # t [RANGE 5]        (1, 1) at 4 ... exp 9
    history = history_of(s=[(1, (1, 1))], t=[(4, (1, 1))])
    both = Union(over("s", Range(20)), over("t", Range(5)))
    assert dated(Distinct(both), history, 5) == [Dated((1, 1), 4, 21)]
    assert dated(Distinct(both), history, 9) == [Dated((1, 1), 1, 21)]


def test_a_group_is_as_young_as_its_latest_tuple_and_time_alone_never_ends_it() -> None:
    history = history_of(s=[(2, (1, 7)), (5, (1, 9)), (6, (2, 9))])
    window = over("s", Range(10))
    plan = GroupBy(window, (Named(col(window, 0), "k"),), (NamedAggregate(Aggregate.of("sum", col(window, 1)), "v"),))
    assert dated(plan, history, 7) == [Dated((1, 16), 5, FOREVER), Dated((2, 9), 6, FOREVER)]
    assert dated(plan, history, 15) == [Dated((2, 9), 6, FOREVER)]
    assert dated(plan, history, 16) == []


def test_a_global_aggregate_over_nothing_is_dated_at_the_beginning() -> None:
    history = history_of(s=[(2, (1, 7))])
    assert dated(count(over("s", Now())), history, 3) == [Dated((0,), BEGINNING, FOREVER)]


def test_an_nrr_is_met_as_it_was_at_ts_updates_at_ts_included() -> None:
    # n        + (1, 10) at 3         - at 5, + (1, 20) at 5
    # s  at 2  at 3            at 4   at 5
    history = history_of(
        {"n": [(3, "+", (1, 10)), (5, "-", (1, 10)), (5, "+", (1, 20))]},
        s=[(2, (1, 0)), (3, (1, 1)), (4, (1, 2)), (5, (1, 3))],
    )
    window = over("s", Unbounded())
    inner = NrrJoin(window, NRR, equal(window, 0, NRR, 0))
    outer = NrrJoin(window, NRR, equal(window, 0, NRR, 0), JoinKind.LEFT)
    assert [row[1:] for row in rows(inner, history, 9)] == [(1, 1, 10), (2, 1, 10), (3, 1, 20)]
    assert [row[1:] for row in rows(outer, history, 9)] == [(0, None, None), (1, 1, 10), (2, 1, 10), (3, 1, 20)]


def test_a_retroactive_relation_is_met_as_it_is_now() -> None:
    history = history_of({"r": [(3, "+", (1, "old")), (5, "-", (1, "old")), (5, "+", (1, "new"))]}, s=[(2, (1, 0))])
    window = over("s", Unbounded())
    join = Join(window, TABLE, equal(window, 0, TABLE, 0))
    names = {t: [row[3] for row in rows(join, history, t)] for t in (2, 3, 4, 5)}
    assert names == {2: [], 3: ["old"], 4: ["old"], 5: ["new"]}


def test_a_distinct_row_meets_the_nrr_of_its_latest_appearance() -> None:
    # n  + (1, 10) at 1            - at 4, + (1, 20) at 4
    # s  (1, 1) at 2, exp 12       (1, 1) at 5, exp 15
    history = history_of({"n": [(1, "+", (1, 10)), (4, "-", (1, 10)), (4, "+", (1, 20))]}, s=[(2, (1, 1)), (5, (1, 1))])
    distinct = Distinct(over("s", Range(10)))
    join = NrrJoin(distinct, NRR, equal(distinct, 0, NRR, 0))
    assert {t: [row[3] for row in rows(join, history, t)] for t in (3, 4, 5, 14, 15)} == {
        3: [10], 4: [10], 5: [20], 14: [20], 15: []
    }  # fmt: skip


def test_what_has_no_time_of_its_own_meets_an_empty_nrr() -> None:
    history = history_of({"n": [(1, "+", (0, 5))]})
    assert rows(NrrJoin(count(over("s", Now())), NRR, TRUE), history, 3) == []


def test_a_negation_keeps_the_rows_that_expire_first() -> None:
    # left   (1, 5) at 1 [RANGE 20] .............. exp 21
    #        (1, 6) at 2 [RANGE 4] .... exp 6               older, but it outlives the other
    # right  (1, 0) at 3
    history = history_of(s=[(1, (1, 5)), (2, (1, 6))], t=[(3, (1, 0))])
    wide, narrow = over("s", Range(20)), over("s", Range(4))
    five, six = (Select(window, call("=", col(window, 1), literal(v))) for window, v in ((wide, 5), (narrow, 6)))
    plan = Negation(Union(five, six), over("t", Unbounded()), ((0, 0),))
    assert rows(plan, history, 3) == [(1, 6)]
    assert rows(plan, history, 6) == []  # (1, 5) alone against one right row


def test_equal_expiry_keeps_the_oldest_then_the_smallest_with_null_last() -> None:
    history = history_of(s=[(1, (1, 9)), (2, (1, None)), (2, (1, 3)), (2, (1, 2))], t=[(3, (1, 0))])
    left, right = over("s", Unbounded()), over("t", Unbounded())
    assert rows(Negation(left, right, ((0, 0),)), history, 2) == [(1, 2), (1, 3), (1, 9), (1, None)]
    assert rows(Negation(left, right, ((0, 0),)), history, 3) == [(1, 2), (1, 3), (1, 9)]
    history.arrive("t", 4, (1, 0))
    history.arrive("t", 5, (1, 0))
    history.arrive("t", 6, (1, 0))
    assert [rows(Negation(left, right, ((0, 0),)), history, t) for t in (4, 5, 6)] == [[(1, 2), (1, 9)], [(1, 9)], []]


def test_an_expiring_left_row_of_a_negation_is_one_of_the_answer() -> None:
    # k = 1 three times in s, once in t: two are kept, and each leaves by its own exp while t's row stays
    history = history_of(s=[(1, (1, 1)), (2, (1, 2)), (3, (1, 3))], t=[(1, (1, 0))])
    plan = Negation(over("s", Range(5)), over("t", Unbounded()), ((0, 0),))
    states = {t: [row[1] for row in rows(plan, history, t)] for t in range(3, 9)}
    assert states == {3: [1, 2], 4: [1, 2], 5: [1, 2], 6: [2], 7: [], 8: []}


def test_nulls_are_one_value_to_a_negation_and_an_intersection() -> None:
    history = history_of(s=[(1, (None, 1)), (1, (None, 1))], t=[(1, (None, 1))])
    left, right = over("s", Unbounded()), over("t", Unbounded())
    assert rows(Negation(left, right, ((0, 0),)), history, 1) == [(None, 1)]
    assert rows(Intersect(left, right), history, 1) == [(None, 1)]


def test_an_intersection_keeps_the_rows_that_expire_last_then_the_youngest() -> None:
    history = history_of(s=[(1, (1, 1)), (3, (1, 1))], t=[(3, (1, 1))])
    plan = Intersect(over("s", Range(5)), over("t", Unbounded()))
    assert dated(plan, history, 3) == [Dated((1, 1), 3, 8)]
    plan = Intersect(over("s", Unbounded()), over("t", Unbounded()))
    assert dated(plan, history, 3) == [Dated((1, 1), 3, FOREVER)]


def test_of_equal_rows_top_k_keeps_those_that_expire_first_then_the_oldest() -> None:
    history = history_of(s=[(1, (1, 1)), (3, (1, 1))], t=[(2, (1, 1))])
    child = Union(over("s", Range(5)), over("t", Range(2)))
    key = (SortKey(col(child, 0)),)
    assert dated(TopK(child, key, 1), history, 3) == [Dated((1, 1), 2, 4)]
    assert dated(TopK(over("s", Unbounded()), key, 1), history, 3) == [Dated((1, 1), 1, FOREVER)]
