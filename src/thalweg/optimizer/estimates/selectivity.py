"""The share of rows that satisfy a condition, estimated from the numbers of distinct values.

`distinct` gives for each column the number of its values. Parts of a condition are taken to be independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import assert_never

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, conjuncts

# Shares of rows for conditions about which distinct values say nothing.
RANGE_SHARE = 1 / 3  # a comparison with <, <=, > or >=
LIKE_SHARE = 1 / 10
NULL_SHARE = 1 / 20
OTHER_SHARE = 1 / 2


def selectivity(condition: Expression, distinct: Sequence[float]) -> float:
    """The share of rows for which the condition is true, between 0 and 1."""
    match condition:
        case Literal(value=bool(value)):
            return float(value)
        case Literal():
            return 0.0
        case Call("and", args):
            return prod(selectivity(arg, distinct) for arg in args)
        case Call("or", args):
            return 1 - prod(1 - selectivity(arg, distinct) for arg in args)
        case Call("not", (part,)):
            return 1 - selectivity(part, distinct)
        case Call("=", (a, b)):
            return 1 / max(1.0, *(distinct_values(e, distinct) for e in (a, b)))
        case Call("<>", (a, b)):
            return 1 - selectivity(Call("=", (a, b), condition.type), distinct)
        case Call("in", (a, *among)):
            return min(1.0, len(among) / distinct_values(a, distinct))
        case Call("is_null"):
            return NULL_SHARE
        case Call("like"):
            return LIKE_SHARE
        case Call("<" | "<=" | ">" | ">="):
            return RANGE_SHARE
        case Call() | Column() | Case() | Cast():
            return OTHER_SHARE
        case _:
            assert_never(condition)


def join_selectivity(condition: Expression, distinct: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
    """The share of all combinations of rows that a join's condition accepts, and the distinct values of its results.

    Of two columns that must be equal, one has all values of the other: 1 / max(v1, v2), then min(v1, v2).
    """
    share, left = 1.0, list(distinct)
    for part in conjuncts(condition):
        share *= selectivity(part, left)
        match part:
            case Call("=", (Column(i), Column(j))):
                left[i] = left[j] = min(left[i], left[j])
    return share, tuple(left)


def distinct_values(expression: Expression, distinct: Sequence[float]) -> float:
    """How many values an expression has: at most as many as there are combinations of its columns' values."""
    match expression:
        case Column(index):
            return distinct[index]
        case Literal():
            return 1.0
        case Call(args=args):
            return prod(distinct_values(arg, distinct) for arg in args)
        case Case() | Cast():
            return max([1.0, *distinct])
        case _:
            assert_never(expression)
