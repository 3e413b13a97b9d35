"""Would catch ISTREAM, DSTREAM or RSTREAM losing bag counts, or being wrong about what was there before (W8)."""

from __future__ import annotations

import pytest

from reference.by_hand import STREAMS, TABLE, col, equal, history_of, over
from thalweg.algebra.expressions import Aggregate, call, literal
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    IStream,
    Join,
    Named,
    NamedAggregate,
    Plan,
    Project,
    RStream,
    Select,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Now, Range, Rows, Unbounded
from thalweg.core.rows import Row, row_key
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History


def emitted(plan: Plan, history: History, until: Instant = 50, start: Instant = BEGINNING) -> list[tuple[Instant, Row]]:
    """What a stream-valued plan has emitted, in order."""
    found = sorted(Reference(plan, history, start).tuples(until), key=lambda d: (d.ts, row_key(d.row)))
    assert all(d.exp == FOREVER for d in found)
    return [(d.ts, d.row) for d in found]


def count(child: Plan) -> GroupBy:
    return GroupBy(child, (), (NamedAggregate(Aggregate.of("count"), "n"),))


def value(child: Plan) -> Project:
    return Project(child, (Named(col(child, 1), "v"),))


def test_istream_emits_gains_and_dstream_losses_with_their_counts() -> None:
    # t          1    2     3     4    5
    # arrive     a    aab   .     .    .       RANGE 2
    # contents   a    aaab  aab   -    -
    history = history_of(s=[(1, (0, 1)), (2, (0, 1)), (2, (0, 1)), (2, (0, 2))])
    window = value(over("s", Range(2)))
    assert emitted(IStream(window), history) == [(1, (1,)), (2, (1,)), (2, (1,)), (2, (2,))]
    assert emitted(DStream(window), history) == [(3, (1,)), (4, (1,)), (4, (1,)), (4, (2,))]


def test_a_row_replaced_by_an_equal_one_at_the_same_instant_is_no_change() -> None:
    # a leaves at 3 as another a arrives: the bag stays the same
    history = history_of(s=[(1, (0, 1)), (3, (0, 1))])
    window = value(over("s", Range(2)))
    assert emitted(IStream(window), history) == [(1, (1,))]
    assert emitted(DStream(window), history) == [(5, (1,))]


def test_rstream_of_now_is_the_stream() -> None:
    history = history_of(s=[(1, (0, 1)), (2, (0, 1)), (2, (0, 1)), (5, (0, 2))])
    assert emitted(RStream(value(over("s", Now()))), history) == emitted(value(STREAMS["s"]), history)


def test_rstream_repeats_everything_when_anything_changes() -> None:
    # t         1   2    3    4   5
    # contents  a   ab   ab   b   -       RANGE 3; nothing happens at 3
    history = history_of(s=[(1, (0, 1)), (2, (0, 2))])
    assert emitted(RStream(value(over("s", Range(3)))), history) == [(1, (1,)), (2, (1,)), (2, (2,)), (4, (2,))]


def test_rstream_sees_a_row_return_with_another_ts() -> None:
    # ROWS 1: the second a replaces the first; equal as bags, not as dated rows
    history = history_of(s=[(1, (0, 1)), (4, (0, 1))])
    assert emitted(RStream(value(over("s", Rows(1)))), history) == [(1, (1,)), (4, (1,))]
    assert emitted(IStream(value(over("s", Rows(1)))), history) == [(1, (1,))]


def test_rstream_does_not_look_at_exp() -> None:
    # t            2                 4
    # s ROWS 1     a (no exp)        b pushes a out, and is not selected
    # t RANGE 9    a (exp 11)        .
    # distinct     a, ts 2, no exp   a, ts 2, exp 11
    history = history_of(s=[(2, (0, 1)), (4, (0, 2))], t=[(2, (0, 1))])
    last = over("s", Rows(1))
    plan = Distinct(Union(Select(last, call("=", col(last, 1), literal(1))), over("t", Range(9))))
    assert [Reference(plan, history).tuples(t)[0].exp for t in (3, 4)] == [FOREVER, 11]
    assert emitted(RStream(plan), history) == [(2, (0, 1))]


def test_the_answer_over_nothing_stands_before_the_first_instant() -> None:
    # COUNT is 0 before anything came, so ISTREAM never says 0 at the start and DSTREAM takes it back
    history = history_of(s=[(3, (0, 1))])
    plan = count(over("s", Range(2)))
    assert emitted(IStream(plan), history) == [(3, (1,)), (5, (0,))]
    assert emitted(DStream(plan), history) == [(3, (0,)), (5, (1,))]
    assert emitted(RStream(plan), history) == [(3, (1,)), (5, (0,))]


def test_what_a_table_holds_at_the_start_is_new_at_the_start() -> None:
    history = history_of({"r": [(1, "+", (1, "a")), (2, "+", (1, "b")), (9, "-", (1, "a"))]})
    assert emitted(IStream(TABLE), history, start=5) == [(5, (1, "a")), (5, (1, "b"))]
    assert emitted(DStream(TABLE), history, start=5) == [(9, (1, "a"))]
    assert emitted(IStream(TABLE), history) == [(1, (1, "a")), (2, (1, "b"))]


def test_a_query_sees_the_tuples_from_its_start_on_and_tables_as_they_are() -> None:
    history = history_of({"r": [(1, "+", (1, "a"))]}, s=[(2, (1, 2)), (5, (1, 5)), (6, (1, 6))])
    window = over("s", Unbounded())
    join = Join(window, TABLE, equal(window, 0, TABLE, 0))
    assert emitted(IStream(join), history, start=5) == [(5, (1, 5, 1, "a")), (6, (1, 6, 1, "a"))]
    assert not Reference(join, history, start=5).answer(4)


def test_seed_004s_join_is_istream_of_the_join_and_never_shrinks() -> None:
    # s RANGE 2: 1..2      t RANGE 2: 2..3      the pair lives at 2 only; its ISTREAM keeps it
    history = history_of(s=[(1, (1, 1))], t=[(2, (1, 2))])
    left, right = over("s", Range(2)), over("t", Range(2))
    join = Join(left, right, equal(left, 0, right, 0))
    assert [len(Reference(join, history).tuples(t)) for t in (1, 2, 3)] == [0, 1, 0]
    assert [len(Reference(IStream(join), history).tuples(t)) for t in (1, 2, 3, 40)] == [0, 1, 1, 1]


@pytest.mark.parametrize("operator", [IStream, DStream, RStream])
def test_stream_operators_nest(operator: type[IStream] | type[DStream] | type[RStream]) -> None:
    # a window over what was emitted is filled at the instants of emission
    history = history_of(s=[(1, (0, 1)), (4, (0, 2))])
    inner = operator(value(over("s", Range(2))))
    moments = emitted(inner, history)
    assert emitted(RStream(Windowed(inner, Now())), history) == moments
