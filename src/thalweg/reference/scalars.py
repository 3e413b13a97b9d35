"""Scalar expressions, one row at a time: docs/semantics.md, "Scalars are total", as a program.

TIMESTAMP and INTERVAL are int microseconds. A NULL argument makes the result NULL, except for the functions of
TAKES_NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, assert_never

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, UserFunction
from thalweg.core.rows import Row, Value
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.reference import strings, timestamps
from thalweg.reference.casts import cast


def evaluate(expression: Expression, row: Row) -> Value:
    """The value of `expression` for one input row."""
    match expression:
        case Column(index):
            return row[index]
        case Literal(value):
            return value
        case Call(function, args, type_):
            values = [evaluate(a, row) for a in args]
            if function not in TAKES_NULL and None in values:
                return None
            if isinstance(function, UserFunction):
                return function.of_values(*values)
            return _in_domain(SCALARS[function](*values), type_)
        case Case(branches, default):
            chosen = (value for condition, value in branches if evaluate(condition, row) is True)
            return evaluate(next(chosen, default), row)
        case Cast(operand, type_):
            return cast(evaluate(operand, row), operand.type, type_)
        case _:
            assert_never(expression)


def _in_domain(value: Value, type_: DataType) -> Value:
    """Overflow and NaN are NULL."""
    match type_:
        case DataType.BIGINT | DataType.INTERVAL:
            low, high = INT64_MIN, INT64_MAX
        case DataType.TIMESTAMP:
            low, high = FIRST_TIMESTAMP, LAST_TIMESTAMP
        case _:  # other types have no smallest or largest value; NaN differs from itself
            return None if value != value else value
    return value if isinstance(value, int) and low <= value <= high else None


def round_half_away(x: float) -> float:
    """`x` to the nearest whole number, halves away from zero."""
    return float(Decimal(x).to_integral_value(ROUND_HALF_UP))


def _and(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _or(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


def _in(value: Value, *members: Value) -> bool | None:
    return _or(*(None if value is None or m is None else value == m for m in members))


def _modulo(a: Any, b: Any) -> Any:
    if b == 0 or a in (math.inf, -math.inf):
        return None
    if isinstance(a, float):
        return math.fmod(a, b)
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def _sign(x: Any) -> Any:
    return type(x)((x > 0) - (x < 0))


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: x if math.isinf(x) else float(function(x))


def _round(x: Any, digits: int = 0) -> Any:
    """Rounded to `digits`, at most 308; `x` itself if the scaled number overflows."""
    if isinstance(x, int):
        return x
    digits = max(-308, min(308, digits))
    scale = float(f"1e{abs(digits)}")
    result = round_half_away(x * scale) / scale if digits >= 0 else round_half_away(x / scale) * scale
    return result if math.isfinite(result) else x


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _power(x: float, y: float) -> float | None:
    if x == 0 and y < 0:  # a division by zero
        return None
    try:
        return math.pow(x, y)
    except ValueError:  # the root of a negative number
        return None
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf


def _pick(choose: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: choose((v for v in values if v is not None), default=None)


TAKES_NULL = frozenset(
    {"and", "or", "is_distinct", "is_null", "in", "greatest", "least", "coalesce", "nullif", "concat"}
)

SCALARS: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "not": lambda a: not a,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "is_distinct": lambda a, b: a != b,
    "is_null": lambda a: a is None,
    "in": _in,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: None if b == 0 else float(a) / float(b),
    "%": _modulo,
    "negate": lambda a: -a,
    "abs": abs,
    "sign": _sign,
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "round": _round,
    "sqrt": lambda x: None if x < 0 else math.sqrt(x),
    "exp": _exp,
    "ln": lambda x: None if x <= 0 else math.log(x),
    "log10": lambda x: None if x <= 0 else math.log10(x),
    "power": _power,
    "greatest": _pick(max),
    "least": _pick(min),
    "coalesce": lambda *values: next((v for v in values if v is not None), None),
    "nullif": lambda a, b: None if a == b else a,
    **strings.SCALARS,
    **timestamps.SCALARS,
}
