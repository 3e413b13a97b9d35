"""Would catch an index that differs from evaluating each predicate by itself, on any value, NULL included."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.eddy.drawn import a_condition, feeds, some_arrivals
from strategies.catalog import S, U
from strategies.dice import Dice
from strategies.effort import examples
from thalweg.algebra.expressions import NULL, Expression, call, column, literal
from thalweg.algebra.plan import Named
from thalweg.algebra.windows import Unbounded
from thalweg.core.lanes import to_lane
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.flows.eddy import Eddy, EddyTuning, SpjQuery, Use
from thalweg.flows.eddy.bits import any_bit, bitmap, count_bits, hits
from thalweg.flows.eddy.predicates import disjuncts, normal_form, truth_of
from thalweg.flows.eddy.steps import BitmapSteps
from thalweg.flows.eddy.values import NO_NULL, ONLY_NULL, Truth, ValueSet, compared
from thalweg.kernel.sweep.evaluate import Condition

_NUMBERS = [-9, -3, -2, -1, 0, 1, 2, 3, 9]


def a_truth(dice: Dice) -> Truth:
    """Comparisons with few constants, combined."""
    truth = compared(dice.pick(["<", "<=", ">", ">=", "=", "<>"]), dice.number(-3, 3))
    match dice.number(0, 5):
        case 1:
            return truth.negated()
        case 2:
            return truth.both(a_truth(dice))
        case 3:
            return truth.either(a_truth(dice))
        case 4:
            return truth.either(Truth(ONLY_NULL, NO_NULL))
        case _:
            return truth


@pytest.mark.parametrize("largest", [1 << 17, 12, 3])
@pytest.mark.parametrize("spread", [1 << 16, 0])
@examples(60)
@given(data=st.data())
def test_steps_know_for_each_value_which_sets_hold_it(largest: int, spread: int, data: st.DataObject) -> None:
    dice = Dice(data.draw)
    sets = [a_truth(dice).true for _ in range(dice.number(0, 9))]
    bits = np.array(data.draw(st.permutations(range(0, 150, 7)))[: len(sets)], dtype=np.int64)
    type_ = dice.pick([DataType.BIGINT, DataType.DOUBLE])
    values = [*_NUMBERS, None]
    lane = to_lane(pa.array(values, type_.arrow), type_, StringPool())
    otherwise = dice.chance(2)
    tuning = EddyTuning(largest_table=largest, direct_lookup_up_to=spread)
    found = BitmapSteps(bits, sets, 3, lane.dtype.type, otherwise, tuning).look_up(lane)
    owned = dict(zip(bits.tolist(), sets, strict=True))
    wanted = {
        (row, bit)
        for row, value in enumerate(values)
        for bit in range(3 * 64)
        if (value in owned[bit] if bit in owned else otherwise)
    }
    assert set(zip(*(lane.tolist() for lane in hits(found)), strict=True)) == wanted


def test_the_ends_of_the_numbers_are_numbers() -> None:
    top = 2**63 - 1
    sets = [compared(">=", top).true, compared("<", -top).true, compared("<=", -top).true]
    lane = np.array([top, -top, 0, -(2**63)])
    found = BitmapSteps(np.arange(3), sets, 1, np.int64, False).look_up(lane)
    assert found[:, 0].tolist() == [0b001, 0b100, 0, 0]  # the last one is NULL


@examples(150)
@given(data=st.data())
def test_clauses_are_true_where_the_predicate_is(data: st.DataObject) -> None:
    dice, pool = Dice(data.draw), StringPool()
    predicate = a_condition(dice, U.schema)
    arrived = [one for one in some_arrivals(dice, 24) if one.stream == "u"]
    batch = feeds(arrived, pool).get("u")
    if batch is None:
        return
    wanted = Condition(predicate, U.schema, pool).holds(batch.columns, len(batch))
    got = np.ones(len(batch), dtype=np.bool_)
    for clause in normal_form(predicate):
        got &= Condition(clause, U.schema, pool).holds(batch.columns, len(batch))
        assert len({attribute for attribute, _ in disjuncts(clause, pool)}) == len(disjuncts(clause, pool))
    assert got.tolist() == wanted.tolist()


def about_one(dice: Dice, depth: int = 3) -> Expression:
    """Comparisons of one column, nested in AND, OR and NOT."""
    k = column(S.schema, 0)
    match dice.number(0, 6) if depth else 0:
        case 1 | 2:
            return call("and", about_one(dice, depth - 1), about_one(dice, depth - 1))
        case 3 | 4:
            return call("or", about_one(dice, depth - 1), about_one(dice, depth - 1))
        case 5:
            return call("not", about_one(dice, depth - 1))
        case 6:
            return call("in", k, *(literal(dice.number(-3, 3)) for _ in range(2)), *[NULL] * dice.number(0, 1))
        case _:
            sides: list[Expression] = [k, literal(dice.number(-3, 3))]
            simple = call(dice.pick(["<", "<=", ">", ">=", "=", "<>"]), *(sides if dice.chance(2) else sides[::-1]))
            return call("is_null", k) if dice.chance(6) else simple


@examples(200)
@given(data=st.data())
def test_all_that_is_said_of_one_attribute_is_one_set(data: st.DataObject) -> None:
    predicate, pool = about_one(Dice(data.draw)), StringPool()
    values = [*_NUMBERS, None]
    lanes = [to_lane(pa.array(values, pa.int64()), DataType.BIGINT, pool)] * 2
    attribute, truth = truth_of(predicate, pool)
    assert attribute == column(S.schema, 0)
    for said, part in ((truth.true, predicate), (truth.false, call("not", predicate))):
        wanted = Condition(part, S.schema, pool).holds(lanes, len(values))
        assert [value in said for value in values] == wanted.tolist()


@pytest.mark.parametrize("skip", [True, False])
@examples(60)
@given(data=st.data())
def test_filters_together_give_what_each_predicate_gives(skip: bool, data: st.DataObject) -> None:
    dice, pool = Dice(data.draw), StringPool()
    chunk, tuning = dice.pick([1024, 2]), EddyTuning(largest_table=dice.pick([1 << 17, 4]))
    eddy = Eddy({"u": U.schema}, pool, "random", skip, chunk=chunk, tuning=tuning)
    running: dict[int, Expression] = {}
    for _ in range(3):
        for _ in range(dice.number(1, 4)):
            slot = max(running, default=0) + 1
            running[slot] = a_condition(dice, U.schema)
            eddy.add(slot, selecting(running[slot]))
        if dice.chance(2):
            slot = dice.pick(list(running))
            eddy.drop(slot)
            del running[slot]
        batch = feeds([one for one in some_arrivals(dice, 12) if one.stream == "u"], pool).get("u")
        if batch is None:
            continue
        batches = eddy.process({"u": batch}, int(batch.start[-1])).batches()
        for slot, predicate in running.items():
            wanted = batch.take(Condition(predicate, U.schema, pool).holds(batch.columns, len(batch)))
            got = batches.pop(slot).columns if slot in batches else wanted.take(slice(0, 0)).columns
            for one, other in zip(got, wanted.columns, strict=True):
                assert np.array_equal(one, other, equal_nan=one.dtype == np.float64)
        assert not batches


def selecting(predicate: Expression) -> SpjQuery:
    """All columns of `u` where a predicate is true."""
    items = tuple(Named(column(U.schema, i), f.name) for i, f in enumerate(U.schema))
    return SpjQuery((Use("u", Unbounded()),), predicate, items)


def test_a_blow_up_is_left_as_it_is() -> None:
    k, v = column(S.schema, 0), column(S.schema, 1)
    pairs = [call("and", call("=", k, literal(i)), call("=", v, literal(i))) for i in range(6)]
    predicate: Expression = pairs[0]
    for pair in pairs[1:]:
        predicate = call("or", predicate, pair)
    assert normal_form(predicate) == [predicate]  # it would be 64 clauses
    some = call("or", pairs[0], pairs[1])
    assert len(normal_form(some)) == 4


def test_double_negation_uncovers_an_equality() -> None:
    k, v = column(S.schema, 0), column(S.schema, 1)
    assert normal_form(call("not", call("<>", k, v))) == [call("=", k, v)]


def test_one_attribute_is_one_disjunct() -> None:
    k = column(S.schema, 0)
    apart = call("or", call("<", k, literal(1)), call(">", literal(5), k))
    ((attribute, values),) = disjuncts(apart, StringPool())
    assert attribute == k and 4 in values and 5 not in values and None not in values
    (alone,) = disjuncts(call("=", call("+", k, k), literal(4)), StringPool())
    assert alone == (call("+", k, k), compared("=", 4).true)


def test_bitmaps() -> None:
    row = bitmap(np.array([0, 63, 64, 130]), 3)
    matrix = np.vstack([row, np.zeros_like(row), row])
    assert any_bit(matrix).tolist() == [True, False, True] and count_bits(matrix) == 8
    rows, bits = hits(matrix)
    assert rows.tolist() == [0] * 4 + [2] * 4 and bits.tolist() == [0, 63, 64, 130] * 2
    assert ValueSet(()).meet(NO_NULL) == ValueSet(())
