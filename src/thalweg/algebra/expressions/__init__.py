"""Scalar expressions and aggregates: frozen, typed trees over a row's columns."""

from thalweg.algebra.expressions.aggregates import AGGREGATES, Aggregate
from thalweg.algebra.expressions.build import (
    FALSE,
    NULL,
    TRUE,
    and_,
    call,
    case,
    cast,
    chain,
    coerce,
    column,
    conjuncts,
    flattened,
    literal,
)
from thalweg.algebra.expressions.declare import aggregate, function
from thalweg.algebra.expressions.nodes import Call, Case, Cast, Column, Expression, Literal
from thalweg.algebra.expressions.user_aggregate import UserAggregate
from thalweg.algebra.expressions.user_function import UserFunction
from thalweg.algebra.expressions.walk import columns_of, map_columns, replace, shift

__all__ = [
    "AGGREGATES", "Aggregate", "Call", "Case", "Cast", "Column", "Expression", "FALSE", "Literal", "NULL", "TRUE",
    "UserAggregate", "UserFunction", "aggregate", "and_", "call", "case", "cast", "coerce", "column", "columns_of",
    "chain", "conjuncts", "flattened", "function", "literal", "map_columns", "replace", "shift",
]  # fmt: skip
