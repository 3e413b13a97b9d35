"""Questions and rewrites over expression trees."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions.nodes import Call, Case, Cast, Column, Expression, Literal

_COLUMNS = "_columns"


def columns_of(expression: Expression) -> frozenset[int]:
    """The positions an expression reads."""
    match expression:
        case Column(index):
            return frozenset([index])
        case Literal():
            return frozenset()
        case Call(_, args):
            known: frozenset[int] | None = vars(expression).get(_COLUMNS)  # an IN may have thousands of members
            if known is None:
                parts = (columns_of(arg) for arg in args if not isinstance(arg, Literal))
                known = vars(expression)[_COLUMNS] = frozenset().union(*parts)
            return known
        case Case(branches, default):
            each = [part for branch in branches for part in branch]
            return columns_of(default).union(*map(columns_of, each))
        case Cast(operand):
            return columns_of(operand)


def map_columns(expression: Expression, change: Callable[[Column], Expression]) -> Expression:
    """The expression with every column replaced by `change(column)`, which must keep its type."""
    return replace(expression, lambda part: change(part) if isinstance(part, Column) else None)


def replace(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with the outermost parts replaced for which `change` has something of the same type."""
    changed = change(expression)
    if changed is not None:
        return changed
    match expression:
        case Column() | Literal():
            return expression
        case Call(function, args, type_):
            return Call(function, tuple(replace(a, change) for a in args), type_)
        case Case(branches, default, type_):
            mapped = tuple((replace(c, change), replace(v, change)) for c, v in branches)
            return Case(mapped, replace(default, change), type_)
        case Cast(operand, type_):
            return Cast(replace(operand, change), type_)


def shift(expression: Expression, by: int) -> Expression:
    """The expression over an input that has `by` more columns in front."""
    return map_columns(expression, lambda c: Column(c.index + by, c.type, c.name))
