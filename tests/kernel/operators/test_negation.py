"""Catches a negation that keeps the wrong tuples: another number, another choice, or at another instant.

The fast path (left tuples in order) and the exact path (any order) must both equal the reference, whatever the batches.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.drawn import ROWS, Timeline
from kernel.operators.feeds import Contents, Signed, Step, check, feeds
from strategies.effort import examples
from thalweg.core.errors import PlanError
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operators import negation
from thalweg.kernel.operators.negation import Negation
from thalweg.reference import operators as reference

LEFT = Schema.of(k=DataType.BIGINT, name=DataType.STRING, x=DataType.DOUBLE)
RIGHT = Schema.of(v=DataType.BIGINT, k=DataType.BIGINT)
NUMBERS = Schema.of(k=DataType.BIGINT)
PAIRS = Schema.of(k=DataType.BIGINT, v=DataType.BIGINT)


def run(
    steps: list[Step],
    left: Schema,
    right: Schema,
    on: list[tuple[int, int]],
    *,
    dated: bool = True,
    direct: bool = True,
) -> Negation:
    def make(pool: StringPool) -> Negation:
        return Negation(left, right, on, pool, ordered=dated, direct=direct)

    def model(contents: Contents, t: Instant) -> list[Dated]:
        # A direct negation trusts exp, also while the instant's negative tuples are still on their way.
        alive = [d for d in contents(0, t) if d.exp > t or not (dated and direct)]
        return reference.negation(alive, contents(1, t), on)

    operator = check(make, [left, right], left, steps, model, dated)
    assert isinstance(operator, Negation)
    return operator


@examples(150)
@given(feeds(LEFT, RIGHT, most=16))
def test_on_an_attribute(steps: list[Step]) -> None:
    run(steps, LEFT, RIGHT, [(0, 1)])


@examples(100)
@given(feeds(LEFT, RIGHT, most=16))
def test_on_an_attribute_with_ends_by_negative_tuples(steps: list[Step]) -> None:
    run(steps, LEFT, RIGHT, [(0, 1)], direct=False)


@examples(100)
@given(feeds(NUMBERS, NUMBERS, direct=True, most=16))
def test_known_ends_only(steps: list[Step]) -> None:
    run(steps, NUMBERS, NUMBERS, [(0, 0)])


@examples(150)
@given(feeds(NUMBERS, NUMBERS, most=16))
def test_except_all_without_dates(steps: list[Step]) -> None:
    run(steps, NUMBERS, NUMBERS, [(0, 0)], dated=False)


@examples(60)
@given(feeds(PAIRS, PAIRS, most=14))
def test_except_all_with_dates(steps: list[Step]) -> None:
    run(steps, PAIRS, PAIRS, [(0, 0), (1, 1)])


def windows(seed: int, *, keys: int, negative: bool, width: int = 25, tuples: int = 260) -> list[Step]:
    """Two sliding windows over random arrivals, cut into steps anywhere; ends known, or sent as `negative` tuples."""
    dice = Random(seed)
    moves: list[tuple[int, Signed]] = []
    t = 0
    for _ in range(tuples):
        t += dice.choice([0, 0, 1, 1, 2])
        side = dice.randrange(2)
        row = (dice.randrange(keys), t) if side == 0 else (dice.randrange(keys),)
        born = Signed(row, t, FOREVER if negative else t + width, 1, t, t + width)
        moves.append((side, born))
        if negative:
            moves.append((side, born._replace(start=t + width, sign=-1)))
    moves.sort(key=lambda move: move[1].start)
    steps, first = [], 0
    while first < len(moves):
        past = first + dice.choice([1, 2, 7, 60])
        part = moves[first:past]
        steps.append(Step(part[-1][1].start, tuple([s for i, s in part if i == side] for side in (0, 1))))
        first = past
    return [*steps, Step(t + 2 * width, ([], []))]


@examples(20)
@given(st.integers(0, 10**6), st.sampled_from([2, 12]), st.booleans())
def test_windows_take_the_fast_path(seed: int, keys: int, negative: bool) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("tuples of a window come and go in order")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(negation, "sweep_any_order", refuse)
        run(windows(seed, keys=keys, negative=negative), PAIRS, NUMBERS, [(0, 0)], direct=not negative)


@examples(20)
@given(st.integers(0, 10**6), st.booleans())
def test_the_exact_path_alone_gives_the_same(seed: int, negative: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Negation, "_before_the_last", lambda self, coming: coming.delta > 0)
        patch.setattr(Negation, "_leave_in_order", lambda self, going: going.delta > 0)
        run(windows(seed, keys=3, negative=negative), PAIRS, NUMBERS, [(0, 0)], direct=not negative)


def timeline(*, direct: bool = True) -> Timeline:
    pool = StringPool()
    return Timeline(Negation(ROWS, ROWS, [(0, 0)], pool, direct=direct), pool, inputs=2)


def test_a_right_arrival_deletes_the_one_that_would_expire_last() -> None:
    # left   a1 |----------)        right   a9    |----)
    #        a2  |----------)
    line = timeline()
    assert line.feed(2, "+a1[1,11) +a2[2,12)", "") == "+a1[1,11) +a2[2,12)"
    assert line.feed(3, "", "+a9[3,8)") == "-a2[3,12)"
    assert line.feed(8, "", "") == "+a2[8,12)"
    assert line.feed(20, "", "") == ""  # what time ends needs no word
    assert premature(line) == 1
    assert line.operator.stored == 0


def test_what_ends_within_a_batch_is_closed_at_once() -> None:
    line = timeline()
    assert line.feed(9, "+a1[1,11) +a2[2,12)", "+a9[3,8)") == "+a1[1,11) +a2[2,3) +a2[8,12)"
    assert premature(line) == 1


def test_an_open_instant_is_corrected() -> None:
    line = timeline()
    assert line.feed(2, "+a2[2,9)", "") == "+a2[2,9)"
    assert line.feed(2, "", "+a9[2,5)") == "-a2[2,9)"
    assert line.feed(2, "+a1[2,9)", "") == "+a1[2,9)"  # dated alike, it comes first by value
    assert line.feed(5, "", "") == "+a2[5,9)"


def test_a_left_tuple_that_goes_lets_no_other_in() -> None:
    # Three left, one right: a1 and a2 show. a1 goes early: of a2 and a3 only a2 stays, as before.
    line = timeline()
    line.feed(3, "+a1[1,11) +a2[2,12) +a3[3,13)", "+a9[3,20)")
    assert line.feed(5, "-a1[5,11)", "") == "-a1[5,11)"
    assert line.feed(6, "-a3[6,13)", "") == "-a2[6,12)"


def test_ends_by_negative_tuples_stay_so() -> None:
    line = timeline(direct=False)
    assert line.feed(2, "+a1[1,F) +a2[2,F)", "+a9[2,F)") == "+a1[1,F)"
    assert line.feed(7, "-a1[7,F)", "") == "-a1[7,F)"
    assert line.feed(8, "", "-a9[8,F)") == "+a2[8,F)"


def test_right_tuples_that_come_and_go_at_once_count_for_nothing() -> None:
    # The left tuples come out of order, so the exact path is taken; at 8 a right end and its cancellation meet.
    line = timeline()
    assert line.feed(8, "+a1[6,9) +a2[7,8) +a3[8,11)", "+a9[5,8) -a9[5,8)") == "+a1[6,9) +a2[7,8) +a3[8,11)"


def test_values_do_not_meet() -> None:
    line = timeline()
    assert line.feed(2, "+a1[1,9) +b1[2,9)", "+b5[1,4) +c5[1,9)") == "+a1[1,9)"
    assert line.feed(4, "", "") == "+b1[4,9)"


def test_a_choice_of_rows_needs_dates() -> None:
    with pytest.raises(PlanError, match="needs dates, to choose among rows with equal values"):
        Negation(PAIRS, NUMBERS, [(0, 0)], StringPool(), ordered=False)


def premature(line: Timeline) -> int:
    assert isinstance(line.operator, Negation)
    return line.operator.premature
