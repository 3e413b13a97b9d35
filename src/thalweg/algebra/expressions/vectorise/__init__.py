"""Scalar expressions on Arrow arrays, a whole batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions.nodes import Call, Case, Cast, Column, Expression, Literal
from thalweg.algebra.expressions.user_function import UserFunction
from thalweg.algebra.expressions.vectorise.arithmetic import ARITHMETIC
from thalweg.algebra.expressions.vectorise.casts import CASTS
from thalweg.algebra.expressions.vectorise.datum import Datum, Kernel, broadcast, length_of
from thalweg.algebra.expressions.vectorise.logic import LOGIC
from thalweg.algebra.expressions.vectorise.mathematics import MATHEMATICS
from thalweg.algebra.expressions.vectorise.strings import STRINGS
from thalweg.algebra.expressions.vectorise.timestamps import TIMESTAMPS
from thalweg.core.types import DataType

__all__ = ["CASTS", "KERNELS", "compile_expression"]

KERNELS: dict[str, Kernel] = {**LOGIC, **ARITHMETIC, **MATHEMATICS, **STRINGS, **TIMESTAMPS}

_Columns: TypeAlias = Sequence[pa.Array]
# A part of an expression: its value if it is constant, else a function of the input's columns.
_Compiled: TypeAlias = pa.Scalar | Callable[[_Columns], pa.Array]


def compile_expression(expression: Expression) -> Callable[[_Columns, int], pa.Array]:
    """A function from the input's columns and its number of rows to the expression's values.

    Columns have the Arrow types of their DataTypes and hold neither NaN nor timestamps outside the years 1 to 9999;
    the result has `expression.type.arrow`.
    """
    compiled = _compile(expression)
    if isinstance(compiled, pa.Scalar):
        return lambda _, rows: broadcast(compiled, rows)
    return lambda columns, _: compiled(columns)


def _compile(expression: Expression) -> _Compiled:
    if expression.type is DataType.NULL:
        return pa.scalar(None)
    match expression:
        case Column(index):
            return lambda columns: columns[index]
        case Literal(value, type_):
            return pa.scalar(value, type_.arrow)
        case Call(function, args):
            return _apply(_by_user(function) if isinstance(function, UserFunction) else KERNELS[function], args)
        case Cast(operand, type_):
            return _apply(CASTS[operand.type, type_], [operand])
        case Case(branches, default):
            conditions, values = zip(*branches, strict=True)
            return _apply(_choose, [*conditions, *values, default])


def _apply(kernel: Kernel, args: Sequence[Expression]) -> _Compiled:
    """`kernel` over compiled arguments; over constants alone it runs now."""
    # No kernel knows Arrow's null type; a NULL of any other type does as well.
    parts = [pa.scalar(None, pa.bool_()) if a.type is DataType.NULL else _compile(a) for a in args]
    if all(isinstance(p, pa.Scalar) for p in parts):
        return kernel(*(pa.repeat(p, 1) for p in parts))[0]
    return lambda columns: kernel(*(p if isinstance(p, pa.Scalar) else p(columns) for p in parts))


def _by_user(function: UserFunction) -> Kernel:
    """A user's function over arrays and constants."""
    return lambda *args: function.of_columns(*(broadcast(a, length_of(*args)) for a in args))


def _choose(*args: Datum) -> Datum:
    """CASE: so many conditions, as many values, and the default."""
    half = len(args) // 2
    return pc.case_when(pc.make_struct(*args[:half]), *args[half:])
