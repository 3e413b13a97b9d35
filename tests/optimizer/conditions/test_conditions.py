"""Would catch a condition that is simplified into another one: any expression, over rows of edge values."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from algebra.expressions.evaluators import by_batch
from strategies.conditions import a_literal
from strategies.dice import Dice
from strategies.effort import examples
from strategies.expressions import TYPES, expressions, rows, schemas
from thalweg.algebra.expressions import FALSE, TRUE, Expression, Literal, and_, call, column, conjuncts
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.optimizer.conditions import fold, implies, ordered, simplify
from thalweg.reference.scalars import evaluate

many = examples(500)

SCHEMA = Schema.of(a=DataType.BIGINT, b=DataType.BIGINT, d=DataType.DOUBLE, s=DataType.STRING, p=DataType.BOOLEAN)
A, B, D, S, P = (column(SCHEMA, i) for i in range(5))


@st.composite
def conjunctions(draw: st.DrawFn) -> Expression:
    """Several comparisons of few columns with few constants, so that they imply and contradict each other."""
    dice = Dice(draw)

    def part() -> Expression:
        subject = dice.pick([A, A, B, D, S, P])
        match dice.number(0, 6):
            case 6:
                return call("or", part(), part())
            case 5:
                return call("not", part())
            case 4:
                return call("is_null", subject)
            case 3:
                return call("in", subject, *dice.several(1, 3, lambda: a_literal(dice, subject.type)))
            case 2:
                return call(dice.pick(["=", "<", ">="]), *dice.pick([(A, B), (B, A), (A, A)]))
            case _:
                constant = a_literal(dice, subject.type)
                sides = (subject, constant) if dice.chance(2) else (constant, subject)
                return call(dice.pick(["=", "<", ">=", "<>", "<=", ">"]), *sides)

    return and_(dice.several(1, 4, part))


def small_rows() -> st.SearchStrategy[Row]:
    few: list[st.SearchStrategy[Value]] = [
        st.sampled_from([0, 1, 2, 3, None]),
        st.sampled_from([0, 1, 2, None]),
        st.sampled_from([0.0, -0.0, 0.5, 2.5, -1.0, None]),
        st.sampled_from(["", "a", "b", "B", None]),
        st.sampled_from([True, False, None]),
    ]
    return st.tuples(*few)


@many
@given(st.data())
def test_folding_and_ordering_change_no_value(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    expression = data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 3))
    some = data.draw(st.lists(rows(schema), min_size=1, max_size=4))
    for change in (fold, ordered, lambda e: ordered(fold(e))):
        changed = change(expression)
        note(str(changed))
        assert changed.type is expression.type
        # as text, which tells 0.0 from -0.0 and 1 from TRUE
        assert repr(by_batch(changed, schema, some)) == repr(by_batch(expression, schema, some))
        assert change(changed) == changed


@many
@given(conjunctions(), small_rows())
def test_a_simplified_condition_is_true_for_the_same_rows(condition: Expression, row: Row) -> None:
    found = simplify(ordered(fold(condition)))
    note(str(found))
    assert (evaluate(found, row) is True) == (evaluate(condition, row) is True)
    assert simplify(ordered(fold(found))) == found


@many
@given(conjunctions(), conjunctions(), small_rows())
def test_what_is_implied_is_true(known: Expression, other: Expression, row: Row) -> None:
    parts = conjuncts(ordered(fold(known)))
    if evaluate(known, row) is True:
        for part in conjuncts(ordered(fold(other))):
            assert not implies(parts, part) or evaluate(part, row) is True


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([call(">", A, Literal(1, A.type)), call(">", A, Literal(2, A.type))], "a > 2"),
        ([call(">=", A, Literal(2, A.type)), call("<>", A, Literal(2, A.type))], "a > 2"),
        ([call(">=", A, Literal(2, A.type)), call("<=", A, Literal(2, A.type))], "a = 2"),
        ([call(">", A, Literal(2, A.type)), call("<", A, Literal(2, A.type))], "FALSE"),
        ([call("=", A, Literal(1, A.type)), call("=", A, Literal(2, A.type))], "FALSE"),
        ([call("=", A, A)], "NOT (a IS NULL)"),
        ([call("<", A, A)], "FALSE"),
        ([call("<", A, B), call("<=", B, A)], "FALSE"),
        ([P, call("or", P, call("=", A, B))], "p"),
        ([P, call("not", P)], "FALSE"),
        ([call("not", call("or", call("=", A, B), P))], "(a <> b) AND (NOT p)"),
        ([call("=", A, Literal(None, A.type))], "FALSE"),
        ([call("in", A, Literal(1, A.type), Literal(None, A.type))], "a = 1"),
        ([call("=", B, A), call("=", A, B)], "a = b"),
        (
            [call("or", call("is_null", A), call("=", A, Literal(1, A.type))), call("in", A, Literal(1, A.type))],
            "a = 1",
        ),
    ],
)
def test_conditions_get_shorter(given: list[Expression], wanted: str) -> None:
    assert str(simplify(ordered(fold(and_(given))))) == wanted


def test_null_is_no_truth_value_of_its_own_in_projections() -> None:
    """p AND NULL is NULL for a true p and FALSE for a false one; p OR NOT p is NULL for NULL."""
    null = Literal(None, DataType.BOOLEAN)
    assert fold(call("and", P, null)) == call("and", P, null)
    assert fold(call("or", P, call("not", P))) not in (TRUE, FALSE)
    assert fold(call("and", null, FALSE)) == FALSE
