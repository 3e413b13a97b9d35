"""Scalar expressions as SQL text that means exactly the same in DuckDB and in Spark."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions.nodes import Call, Case, Cast, Column, Expression, Literal
from thalweg.algebra.expressions.render.casts import CASTS
from thalweg.algebra.expressions.render.dialect import Dialect, Site, Writer, constant
from thalweg.algebra.expressions.render.guards import without_nan
from thalweg.algebra.expressions.render.logic import LOGIC
from thalweg.algebra.expressions.render.numbers import GIVES_NAN, KEEPS_NAN, NUMBERS
from thalweg.algebra.expressions.render.strings import STRINGS
from thalweg.algebra.expressions.render.timestamps import TIMESTAMPS
from thalweg.algebra.expressions.user_function import UserFunction
from thalweg.core.errors import PlanError
from thalweg.core.types import DataType

__all__ = ["CASTS", "Dialect", "WRITERS", "render"]

WRITERS: dict[str, Writer] = {**LOGIC, **NUMBERS, **STRINGS, **TIMESTAMPS}


def render(expression: Expression, dialect: Dialect, column: Callable[[int], str]) -> str:
    """The SQL of `expression`; `column` gives the SQL of the input's column at a position.

    The text stands on its own: it can be put anywhere a value can.
    """

    def sql(part: Expression, nan_may_show: bool = False) -> str:
        match part:
            case Column(index):
                return column(index)
            case Literal(value, type_):
                return constant(value, type_, dialect)
            case Call(function=UserFunction() as function):
                raise PlanError(
                    f"{function.upper()} is a user's function, which SQL does not have",
                    hint="engines of Thalweg run it; a one-time query in SQL cannot",
                )
            case Call(function, args, type_):
                is_double = type_ is DataType.DOUBLE
                inner = [sql(a, is_double and function in KEEPS_NAN) for a in args]
                written = WRITERS[function](Site(part, tuple(inner), dialect))
                needs_guard = is_double and function in GIVES_NAN and not nan_may_show
                return without_nan(written, dialect) if needs_guard else written
            case Case(branches, default):
                whens = " ".join(f"WHEN {sql(condition)} THEN {sql(value)}" for condition, value in branches)
                return f"CASE {whens} ELSE {sql(default)} END"
            case Cast(operand, type_):
                return CASTS[operand.type, type_](sql(operand), dialect)

    return sql(expression)
