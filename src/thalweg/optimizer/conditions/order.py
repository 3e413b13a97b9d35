"""One spelling for expressions of the same meaning, so that sub-plans of the same meaning are equal."""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, chain, flattened

MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "is_distinct": "is_distinct"}


def ordered(expression: Expression) -> Expression:
    """The expression with parts of AND and OR sorted, columns first and constants last in comparisons."""
    match expression:
        case Call("and" | "or" as function):
            return chain(function, sorted({ordered(part) for part in flattened(expression, function)}, key=spelling))
        case Call(function, args, type_):
            args = tuple(map(ordered, args))
            if function in MIRRORED and _rank(args[0]) > _rank(args[1]):
                return Call(MIRRORED[function], args[::-1], type_)
            if function == "in" and all(isinstance(a, Literal) for a in args[1:]):
                args = (args[0], *sorted(set(args[1:]), key=spelling))
            return Call(function, args, type_)
        case Case(branches, default, type_):
            return Case(tuple((ordered(c), ordered(v)) for c, v in branches), ordered(default), type_)
        case Cast(operand, type_):
            return Cast(ordered(operand), type_)
        case Column() | Literal():
            return expression
        case _:
            assert_never(expression)


def spelling(expression: Expression) -> str:
    """A text that is equal for equal expressions only; it leaves out the names of columns."""
    match expression:
        case Column(index, type_):
            return f"#{index:05}:{type_}"
        case Literal(value, type_):
            return f"{value!r}:{type_}"
        case Call(function, args):
            return f"{function}({','.join(map(spelling, args))})"
        case Case(branches, default):
            whens = ";".join(f"{spelling(c)}?{spelling(v)}" for c, v in branches)
            return f"case({whens};{spelling(default)})"
        case Cast(operand, type_):
            return f"cast({spelling(operand)},{type_})"
        case _:
            assert_never(expression)


def _rank(expression: Expression) -> tuple[int, str]:
    kind = 0 if isinstance(expression, Column) else 2 if isinstance(expression, Literal) else 1
    return kind, spelling(expression)
