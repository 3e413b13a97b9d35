"""In which order predicates are applied: cheap ones that drop much come first (GolabOzsu2003 §5.4)."""

from __future__ import annotations

from thalweg.algebra.expressions import Call, Case, Cast, Expression, UserFunction

# Roughly, in comparisons of numbers. Whatever reads characters is dear.
_COSTS = {
    "like": 40.0, "replace": 40.0, "||": 20.0, "concat": 20.0, "upper": 20.0, "lower": 20.0, "trim": 20.0,
    "ltrim": 20.0, "rtrim": 20.0, "reverse": 20.0, "left": 20.0, "right": 20.0, "substring": 20.0, "strpos": 20.0,
    "starts_with": 20.0, "ends_with": 20.0, "length": 10.0, "date_trunc": 10.0,
    "sqrt": 2.0, "exp": 5.0, "ln": 5.0, "log10": 5.0, "power": 5.0,
}  # fmt: skip
_PASSED = {"=": 0.1, "<>": 0.9, "<": 1 / 3, "<=": 1 / 3, ">": 1 / 3, ">=": 1 / 3, "like": 0.25, "is_null": 0.1}


def cost(expression: Expression) -> float:
    """The cost of an expression for one row."""
    match expression:
        case Call(function=UserFunction() as function, args=args):
            return function.cost + sum(map(cost, args))
        case Call(function, args):
            return _COSTS.get(function, 1.0) + sum(map(cost, args))
        case Case(branches, default):
            return cost(default) + sum(cost(part) for branch in branches for part in branch)
        case Cast(operand):
            return 2.0 + cost(operand)
    return 0.0


def passed(predicate: Expression) -> float:
    """The share of rows that a predicate is expected to let through."""
    match predicate:
        case Call("and", args):
            share = 1.0
            for part in args:
                share *= passed(part)
            return share
        case Call("or", args):
            share = 1.0
            for part in args:
                share *= 1.0 - passed(part)
            return 1.0 - share
        case Call("not", args):
            return 1.0 - passed(args[0])
        case Call(function, _):
            return _PASSED.get(function, 0.5)
    return 0.5


def rank(predicate: Expression) -> float:
    """The cost of dropping a row: predicates are applied in ascending order of it."""
    return cost(predicate) / max(1.0 - passed(predicate), 1e-3)
