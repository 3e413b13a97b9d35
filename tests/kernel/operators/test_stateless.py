"""Would catch a selection, projection, union or negation that loses a sign, an interval or a date on the way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Step, check, feeds, to_batch
from strategies.effort import examples
from thalweg.algebra.expressions import Column, Expression, call, column, literal
from thalweg.algebra.plan import Named
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.operators.negate import Negate
from thalweg.kernel.operators.project import Project
from thalweg.kernel.operators.select import Select
from thalweg.kernel.operators.union import Union
from thalweg.kernel.sweep.evaluate import Condition, Evaluator
from thalweg.reference import operators as reference

SCHEMA = Schema.of(
    k=DataType.BIGINT,
    x=DataType.DOUBLE,
    s=DataType.STRING,
    b=DataType.BOOLEAN,
    at=DataType.TIMESTAMP,
    wait=DataType.INTERVAL,
)
K, X, S, B, AT, WAIT = (column(SCHEMA, i) for i in range(len(SCHEMA)))
PREDICATES: list[Expression] = [
    call("=", S, literal("a")),
    call("or", B, call(">", X, literal(0.0))),
    call(">", call("+", AT, WAIT), AT),
    call("is_null", K),
    B,
    literal(True),
]
ITEMS: list[Expression] = [
    S,
    call("+", K, literal(1)),
    literal("constant"),
    call("||", S, S),
    call("+", AT, WAIT),
    call("not", B),
    K,
    call("/", X, X),
]
DATED = st.booleans()


@examples(40)
@given(feeds(SCHEMA), st.sampled_from(PREDICATES), DATED)
def test_selection(steps: list[Step], predicate: Expression, dated: bool) -> None:
    check(
        lambda pool: Select(SCHEMA, predicate, pool),
        [SCHEMA],
        SCHEMA,
        steps,
        lambda at, t: reference.select(at(0, t), predicate),
        dated,
    )


@examples(40)
@given(feeds(SCHEMA), DATED)
def test_projection(steps: list[Step], dated: bool) -> None:
    items = [Named(e, str(e)) for e in ITEMS]
    output = Schema.of(**{f"c{i}": e.type for i, e in enumerate(ITEMS)})
    check(
        lambda pool: Project(SCHEMA, ITEMS, pool),
        [SCHEMA],
        output,
        steps,
        lambda at, t: reference.project(at(0, t), items),
        dated,
    )


@examples(30)
@given(feeds(SCHEMA, SCHEMA, SCHEMA), DATED)
def test_union_of_three(steps: list[Step], dated: bool) -> None:
    check(lambda pool: Union(), [SCHEMA] * 3, SCHEMA, steps, lambda at, t: at(0, t) + at(1, t) + at(2, t), dated)


@examples(30)
@given(feeds(SCHEMA))
def test_negation_takes_away_what_its_input_gives(steps: list[Step]) -> None:
    pool = StringPool()
    for step in steps:
        batch = to_batch(step.inputs[0], SCHEMA, pool)
        gone = Negate().process([batch], step.now)
        assert (gone.sign == -batch.sign).all() and gone.columns is batch.columns and gone.end is batch.end


def test_a_bare_column_is_not_converted() -> None:
    lanes = [np.arange(3), np.ones(3), *(np.arange(3) for _ in range(4))]
    found = Evaluator([S, X, call("+", K, K)], SCHEMA, StringPool())(lanes, 3)  # an empty pool cannot decode S
    assert found[0] is lanes[2] and found[1] is lanes[1] and found[2].tolist() == [0, 2, 4]


def test_a_condition_names_the_columns_it_reads() -> None:
    condition = Condition(call("<", Column(4, DataType.TIMESTAMP), AT), SCHEMA, StringPool())
    assert condition.reads == (4,)
    assert condition.holds_on([np.array([1, 2])], 2).tolist() == [False, False]
