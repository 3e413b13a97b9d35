"""The order in which predicates are applied: cheap predicates that drop many rows first (GolabOzsu2003 §5.4)."""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, UserFunction

# Estimated costs, in comparisons of numbers. Functions that read characters are expensive.
_COSTS = {
    "like": 40.0, "replace": 40.0, "||": 20.0, "concat": 20.0, "upper": 20.0, "lower": 20.0, "trim": 20.0,
    "ltrim": 20.0, "rtrim": 20.0, "reverse": 20.0, "left": 20.0, "right": 20.0, "substring": 20.0, "strpos": 20.0,
    "starts_with": 20.0, "ends_with": 20.0, "length": 10.0, "date_trunc": 10.0,
    "sqrt": 2.0, "exp": 5.0, "ln": 5.0, "log10": 5.0, "power": 5.0,
}  # fmt: skip
_SELECTIVITIES = {"=": 0.1, "<>": 0.9, "<": 1 / 3, "<=": 1 / 3, ">": 1 / 3, ">=": 1 / 3, "like": 0.25, "is_null": 0.1}


def cost(expression: Expression) -> float:
    """The estimated cost of an expression for one row."""
    match expression:
        case Call(function=UserFunction() as function, args=args):
            return function.cost + sum(map(cost, args))
        case Call(function, args):
            return _COSTS.get(function, 1.0) + sum(map(cost, args))
        case Case(branches, default):
            return cost(default) + sum(cost(part) for branch in branches for part in branch)
        case Cast(operand):
            return 2.0 + cost(operand)
        case Column() | Literal():
            return 0.0
        case _:
            assert_never(expression)


def selectivity(predicate: Expression) -> float:
    """The estimated share of rows for which a predicate is true."""
    match predicate:
        case Call("and", args):
            share = 1.0
            for part in args:
                share *= selectivity(part)
            return share
        case Call("or", args):
            share = 1.0
            for part in args:
                share *= 1.0 - selectivity(part)
            return 1.0 - share
        case Call("not", args):
            return 1.0 - selectivity(args[0])
        case Call(function, _):
            return _SELECTIVITIES.get(function, 0.5) if isinstance(function, str) else 0.5
        case Column() | Literal() | Case() | Cast():
            return 0.5
        case _:
            assert_never(predicate)


def rank(predicate: Expression) -> float:
    """The cost of dropping one row. Predicates are applied in ascending order of rank."""
    return cost(predicate) / max(1.0 - selectivity(predicate), 1e-3)
