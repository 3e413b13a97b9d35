"""Pieces of SQL that return NULL where there is no result, and one that computes a value only once."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions.render.dialect import Dialect, Site, bigint, double, interval, text
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP
from thalweg.core.types import NO_BIGINT, DataType

_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
_REPEAT_TEXT_UP_TO = 40  # longest text, in characters, that may be repeated: a column, a constant, a small sum


def let(name: str, sql: str, dialect: Dialect, body: Callable[[str], str]) -> str:
    """`body` of a value; `body` may use the value several times.

    A text that is not short is bound to `name` by a lambda, else nested expressions would double at each level. `name`
    ends in an underscore so as not to hide a column, and differs from those bound around it by the same function.
    """
    if len(sql) <= _REPEAT_TEXT_UP_TO:
        return body(sql)
    if dialect is Dialect.DUCKDB:
        return f"list_transform([{sql}], lambda {name}: {body(name)})[1]"
    return f"transform(array({sql}), {name} -> {body(name)})[0]"


def nullif(sql: str, unwanted: str, dialect: Dialect) -> str:
    """NULL where a value equals `unwanted`."""
    if dialect is Dialect.DUCKDB:  # DuckDB's NULLIF computes its first argument twice
        return let("value_", sql, dialect, lambda value: f"NULLIF({value}, {unwanted})")
    return f"NULLIF({sql}, {unwanted})"


def without_nan(sql: str, dialect: Dialect) -> str:
    """NaN becomes NULL; both dialects find it equal to itself."""
    return nullif(sql, double(float("nan"), dialect), dialect)


def checked(operator: str, left: str, right: str, dialect: Dialect) -> str:
    """BIGINT arithmetic in which overflow is NULL."""
    if dialect is Dialect.DUCKDB:
        return in_domain(f"TRY({left} {operator} {right})", dialect)
    return in_domain(f"{_TRY[operator]}({left}, {right})", dialect)


def in_domain(sql: str, dialect: Dialect) -> str:
    """A 64-bit integer as a BIGINT: -2^63 becomes NULL."""
    return nullif(sql, bigint(NO_BIGINT, dialect), dialect)


def to_micros(site: Site, index: int) -> str:
    """An argument as BIGINT: itself, or the microseconds of a timestamp or interval."""
    value, sql, dialect = site.constant(index), site.args[index], site.dialect
    match site.types[index]:
        case DataType.TIMESTAMP | DataType.INTERVAL if isinstance(value, int):
            return bigint(value, dialect)
        case DataType.TIMESTAMP:
            return f"epoch_us({sql})" if dialect is Dialect.DUCKDB else f"unix_micros({sql})"
        case DataType.INTERVAL:
            return f"epoch_us({sql})" if dialect is Dialect.DUCKDB else f"({sql} DIV INTERVAL '0.000001' SECOND)"
        case _:
            return sql


def from_micros(sql: str, type_: DataType, dialect: Dialect) -> str:
    """BIGINT microseconds as `type_`; a timestamp outside the years 1 to 9999 is NULL."""
    match type_:
        case DataType.TIMESTAMP:
            low, high = bigint(FIRST_TIMESTAMP, dialect), bigint(LAST_TIMESTAMP, dialect)
            return let(
                "micros_",
                sql,
                dialect,
                lambda t: f"CASE WHEN {t} >= {low} AND {t} <= {high} THEN {timestamp(t, dialect)} END",
            )
        case DataType.INTERVAL:
            return interval(sql, dialect)
        case _:
            return sql


def timestamp(micros: str, dialect: Dialect) -> str:
    """The timestamp so many microseconds after 1970."""
    return f"make_timestamp({micros})" if dialect is Dialect.DUCKDB else f"timestamp_micros({micros})"


def clamped(sql: str, low: int, high: int, dialect: Dialect) -> str:
    """An integer brought into a range; NULL stays NULL, which GREATEST and LEAST would not do."""
    return let(
        "count_", sql, dialect, lambda n: f"CASE WHEN {n} < {low} THEN {low} WHEN {n} > {high} THEN {high} ELSE {n} END"
    )


def matches(sql: str, pattern: str, dialect: Dialect) -> str:
    """Whether the whole text matches a regular expression."""
    if dialect is Dialect.DUCKDB:
        return f"regexp_full_match({sql}, {text(pattern, dialect)})"
    anchored = text(rf"^(?:{pattern})\z", dialect)
    return f"({sql} RLIKE {anchored})"
