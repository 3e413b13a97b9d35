"""The share of rows that fulfil a condition, guessed from the numbers of distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from thalweg.algebra.expressions import Call, Column, Expression, Literal

RANGE = 1 / 3  # of rows are below some constant
LIKE = 1 / 10
NULLS = 1 / 20
ANY = 1 / 2  # where nothing can be said


def selectivity(condition: Expression, distinct: Sequence[float]) -> float:
    """Between 0 and 1; `distinct` is by column. Parts of a condition are taken to be independent."""
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
            return 1 / max(1.0, *(values(e, distinct) for e in (a, b)))
        case Call("<>", (a, b)):
            return 1 - selectivity(Call("=", (a, b), condition.type), distinct)
        case Call("in", (a, *among)):
            return min(1.0, len(among) / values(a, distinct))
        case Call("is_null"):
            return NULLS
        case Call("like"):
            return LIKE
        case Call("<" | "<=" | ">" | ">="):
            return RANGE
    return ANY


def values(expression: Expression, distinct: Sequence[float]) -> float:
    """How many values an expression has: at most as many as the columns in it together."""
    match expression:
        case Column(index):
            return distinct[index]
        case Literal():
            return 1.0
        case Call(args=args):
            return prod(values(arg, distinct) for arg in args)
    return max([1.0, *distinct])
