"""Constant folding in three-valued logic: a folded expression has the same value for every row, NULL included."""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.expressions import FALSE, TRUE, Call, Case, Cast, Column, Expression, Literal
from thalweg.algebra.expressions.vectorise import compile_expression
from thalweg.core.types import DataType

# The result is NULL if any argument is NULL.
_STRICT = frozenset({"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "negate", "not", "like", "||", "abs"})

NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def fold(expression: Expression) -> Expression:
    """The expression with all parts computed that do not depend on the row."""
    match expression:
        case Call(function, args, type_):
            return _call(Call(function, tuple(map(fold, args)), type_))
        case Case(branches, default, type_):
            return _case(Case(tuple((fold(c), fold(v)) for c, v in branches), fold(default), type_))
        case Cast(operand, type_):
            folded = Cast(fold(operand), type_)
            return _constant(folded) if isinstance(folded.operand, Literal) else folded
        case Column() | Literal():
            return expression
        case _:
            assert_never(expression)


def _call(call: Call) -> Expression:
    args = call.args
    match call.function:
        case "and" | "or":
            return _connected(call)
        case "not" if isinstance(args[0], Call) and args[0].function == "not":
            return args[0].args[0]
        case "not" if isinstance(args[0], Call) and args[0].function in NEGATED:
            return Call(NEGATED[args[0].function], args[0].args, call.type)
        case "not" if isinstance(args[0], Call) and args[0].function in ("and", "or"):  # De Morgan
            dual = {"and": "or", "or": "and"}[args[0].function]
            return _call(Call(dual, tuple(_call(Call("not", (a,), call.type)) for a in args[0].args), call.type))
        case "coalesce":
            return _coalesce(call)
    if all(isinstance(a, Literal) for a in args):
        return _constant(call)
    if call.function in _STRICT and any(_is_null(a) for a in args):
        return Literal(None, call.type)
    return call


def _connected(call: Call) -> Expression:
    """x AND TRUE = x, x AND FALSE = FALSE, x AND x = x; OR likewise. All hold for NULL too."""
    neutral, absorbing = (TRUE, FALSE) if call.function == "and" else (FALSE, TRUE)
    if absorbing in call.args:
        return absorbing
    left, right = call.args
    if left in (neutral, right):
        return right
    if right == neutral:
        return left
    return _constant(call) if isinstance(left, Literal) and isinstance(right, Literal) else call


def _coalesce(call: Call) -> Expression:
    """Leaves out NULLs, and all arguments after the first constant."""
    args: list[Expression] = []
    for arg in call.args:
        if not _is_null(arg):
            args.append(arg)
        if isinstance(arg, Literal) and not _is_null(arg):
            break
    if not args:
        return Literal(None, call.type)
    return args[0] if len(args) == 1 else Call("coalesce", tuple(args), call.type)


def _case(case: Case) -> Expression:
    """Leaves out branches that are never taken; a branch that is always taken becomes the default."""
    branches: list[tuple[Expression, Expression]] = []
    default = case.default
    for condition, value in case.branches:
        if condition == TRUE:
            default = value
            break
        if condition != FALSE and not _is_null(condition):
            branches.append((condition, value))
    return Case(tuple(branches), default, case.type) if branches else default


def _constant(expression: Expression) -> Expression:
    """The value of an expression over constants, computed by the same kernels that compute columns."""
    if expression.type is DataType.NULL:
        return Literal(None, DataType.NULL)
    value = compile_expression(expression)([], 1)[0]
    if expression.type in (DataType.TIMESTAMP, DataType.INTERVAL):
        return Literal(value.value, expression.type)
    return Literal(value.as_py(), expression.type)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None
