"""Every scalar function and operator with the types it takes and gives: the one table that typing reads.

Four places have these names as keys: this table, `vectorise` (Arrow), `render` (SQL text) and the row-by-row scalars of
the reference. A test keeps the four sets equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.core.types import DataType, common_type

BOOLEAN, BIGINT, DOUBLE = DataType.BOOLEAN, DataType.BIGINT, DataType.DOUBLE
STRING, TIMESTAMP, INTERVAL = DataType.STRING, DataType.TIMESTAMP, DataType.INTERVAL


@dataclass(frozen=True)
class Overload:
    """One way to call a function: argument types and the result's type."""

    args: tuple[DataType, ...]
    result: DataType


@dataclass(frozen=True)
class Alike:
    """A function over arguments of one common type, of any type; `result` None means that common type."""

    at_least: int
    at_most: int | None
    result: DataType | None


def _on(args: Sequence[DataType], result: DataType) -> Overload:
    return Overload(tuple(args), result)


_NUMBERS = (_on([BIGINT], BIGINT), _on([DOUBLE], DOUBLE))
_DOUBLE = (_on([DOUBLE], DOUBLE),)
_TEXT = (_on([STRING], STRING),)
_TIME_PART = (_on([TIMESTAMP], BIGINT),)
_COMPARE = Alike(2, 2, BOOLEAN)
_LOGIC = (_on([BOOLEAN, BOOLEAN], BOOLEAN),)

FUNCTIONS: dict[str, tuple[Overload, ...] | Alike] = {
    # three-valued logic
    "and": _LOGIC,
    "or": _LOGIC,
    "not": (_on([BOOLEAN], BOOLEAN),),
    # comparison: NULL if either side is; is_distinct treats NULL as a value
    "=": _COMPARE,
    "<>": _COMPARE,
    "<": _COMPARE,
    "<=": _COMPARE,
    ">": _COMPARE,
    ">=": _COMPARE,
    "is_distinct": _COMPARE,
    "is_null": Alike(1, 1, BOOLEAN),
    "in": Alike(2, None, BOOLEAN),
    # arithmetic; `/` is always DOUBLE; overflow and division by zero give NULL
    "+": (
        _on([BIGINT, BIGINT], BIGINT),
        _on([DOUBLE, DOUBLE], DOUBLE),
        _on([TIMESTAMP, INTERVAL], TIMESTAMP),
        _on([INTERVAL, TIMESTAMP], TIMESTAMP),
        _on([INTERVAL, INTERVAL], INTERVAL),
    ),
    "-": (
        _on([BIGINT, BIGINT], BIGINT),
        _on([DOUBLE, DOUBLE], DOUBLE),
        _on([TIMESTAMP, TIMESTAMP], INTERVAL),
        _on([TIMESTAMP, INTERVAL], TIMESTAMP),
        _on([INTERVAL, INTERVAL], INTERVAL),
    ),
    "*": (
        _on([BIGINT, BIGINT], BIGINT),
        _on([DOUBLE, DOUBLE], DOUBLE),
        _on([INTERVAL, BIGINT], INTERVAL),
        _on([BIGINT, INTERVAL], INTERVAL),
    ),
    "/": (_on([DOUBLE, DOUBLE], DOUBLE), _on([INTERVAL, INTERVAL], DOUBLE)),
    "%": (_on([BIGINT, BIGINT], BIGINT), _on([DOUBLE, DOUBLE], DOUBLE)),
    "negate": (*_NUMBERS, _on([INTERVAL], INTERVAL)),
    # numbers
    "abs": _NUMBERS,
    "sign": _NUMBERS,
    "ceil": _DOUBLE,
    "floor": _DOUBLE,
    "round": (*_NUMBERS, _on([DOUBLE, BIGINT], DOUBLE)),
    "sqrt": _DOUBLE,
    "exp": _DOUBLE,
    "ln": _DOUBLE,
    "log10": _DOUBLE,
    "power": (_on([DOUBLE, DOUBLE], DOUBLE),),
    # choice
    "greatest": Alike(1, None, None),
    "least": Alike(1, None, None),
    "coalesce": Alike(1, None, None),
    "nullif": Alike(2, 2, None),
    # strings
    "||": (_on([STRING, STRING], STRING),),
    "concat": Alike(1, None, STRING),
    "like": (_on([STRING, STRING], BOOLEAN),),
    "length": (_on([STRING], BIGINT),),
    "upper": _TEXT,
    "lower": _TEXT,
    "trim": _TEXT,
    "ltrim": _TEXT,
    "rtrim": _TEXT,
    "reverse": _TEXT,
    "left": (_on([STRING, BIGINT], STRING),),
    "right": (_on([STRING, BIGINT], STRING),),
    "substring": (_on([STRING, BIGINT], STRING), _on([STRING, BIGINT, BIGINT], STRING)),
    "replace": (_on([STRING, STRING, STRING], STRING),),
    "strpos": (_on([STRING, STRING], BIGINT),),
    "starts_with": (_on([STRING, STRING], BOOLEAN),),
    "ends_with": (_on([STRING, STRING], BOOLEAN),),
    # timestamps
    "year": _TIME_PART,
    "month": _TIME_PART,
    "day": _TIME_PART,
    "dayofweek": _TIME_PART,
    "dayofyear": _TIME_PART,
    "hour": _TIME_PART,
    "minute": _TIME_PART,
    "second": _TIME_PART,
    "epoch": (_on([TIMESTAMP], DOUBLE), _on([INTERVAL], DOUBLE)),
    "to_timestamp": (_on([DOUBLE], TIMESTAMP),),
    "date_trunc": (_on([STRING, TIMESTAMP], TIMESTAMP),),
}

DATE_TRUNC_UNITS = (
    "microsecond",
    "millisecond",
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
)


def resolve(name: str, given: Sequence[DataType]) -> Overload | None:
    """The overload that `given` argument types fit, exactly or by BIGINT -> DOUBLE and NULL -> anything."""
    signature = FUNCTIONS[name]
    if isinstance(signature, Alike):
        return _resolve_alike(signature, given)
    for overload in signature:  # an exact match wins over one that needs a conversion
        if overload.args == tuple(given):
            return overload
    for overload in signature:
        if len(overload.args) == len(given) and all(map(_fits, given, overload.args)):
            return overload
    return None


def accepted(name: str) -> list[str]:
    """The ways to call `name`, for an error's candidates."""
    signature = FUNCTIONS[name]
    if isinstance(signature, Alike):
        return [f"{name}(arguments of one type)"]
    return [f"{name}({', '.join(map(str, o.args))}) -> {o.result}" for o in signature]


def _fits(given: DataType, wanted: DataType) -> bool:
    return given is wanted or given is DataType.NULL or (given is BIGINT and wanted is DOUBLE)


def _resolve_alike(signature: Alike, given: Sequence[DataType]) -> Overload | None:
    if len(given) < signature.at_least or (signature.at_most is not None and len(given) > signature.at_most):
        return None
    if signature.result is STRING:  # concat: strings only
        return Overload((STRING,) * len(given), STRING) if all(_fits(g, STRING) for g in given) else None
    common: DataType | None = DataType.NULL
    for g in given:
        common = common_type(common, g) if common is not None else None
    if common is None:
        return None
    return Overload((common,) * len(given), signature.result or common)
