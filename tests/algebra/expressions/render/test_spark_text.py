"""The Spark rendering of every function is text that a parser of Spark's dialect reads, over the right columns.

Would catch: an unbalanced or wrongly quoted text, a comment made of two minuses, a constant that ends its quotes.
"""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from strategies.effort import examples
from strategies.expressions import EDGES, TYPES, expressions, schemas, signatures
from thalweg.algebra.expressions import Column, Expression, Literal, call, cast, columns_of
from thalweg.algebra.expressions.build import CASTS
from thalweg.algebra.expressions.render import Dialect, render
from thalweg.core.types import DataType


def _parse(expression: Expression) -> exp.Expr:
    sql = render(expression, Dialect.SPARK, lambda i: f"input_{i}")
    statement = sqlglot.parse_one(f"SELECT {sql} AS value", dialect="spark")
    assert isinstance(statement, exp.Select) and len(statement.expressions) == 1
    return statement


def _columns(tree: exp.Expr) -> set[str]:
    """Input columns; the variables of lambdas are none."""
    return {c.name for c in tree.find_all(exp.Column) if c.name.startswith("input_")}


@pytest.mark.parametrize(
    ("function", "types"),
    [pytest.param(f, types, id=f"{f}({','.join(map(str, types))})") for f, types, _ in signatures()],
)
def test_function(function: str, types: tuple[DataType, ...]) -> None:
    operands = [Literal(None, t) if t is DataType.NULL else Column(i, t) for i, t in enumerate(types)]
    expression = call(function, *operands)
    assert _columns(_parse(expression)) == {f"input_{i}" for i in columns_of(expression)}


@pytest.mark.parametrize(("given_type", "wanted"), sorted(CASTS, key=str), ids=str)
def test_cast(given_type: DataType, wanted: DataType) -> None:
    assert _columns(_parse(cast(Column(0, given_type), wanted))) == {"input_0"}


@pytest.mark.parametrize("text", [v for v in EDGES[DataType.STRING] if isinstance(v, str)])
def test_a_string_constant_reads_back(text: str) -> None:
    value = _parse(Literal(text, DataType.STRING)).expressions[0].unalias()
    assert isinstance(value, exp.Literal) and value.is_string
    assert value.name.replace(r"\u0024", "$") == text  # the parser leaves this escape as it is


@examples(100)
@given(st.data())
def test_nested(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    expression = data.draw(expressions(schema, data.draw(st.sampled_from(TYPES)), 3))
    assert _columns(_parse(expression)) <= {f"input_{i}" for i in columns_of(expression)}
