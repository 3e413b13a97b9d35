"""Wrappers that turn what has no value into NULL."""

from __future__ import annotations

from thalweg.algebra.expressions.render.dialect import Dialect, Site, bigint, double, interval, text
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP
from thalweg.core.types import DataType

_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}


def without_nan(sql: str, dialect: Dialect) -> str:
    """NaN becomes NULL; both dialects find it equal to itself."""
    return f"NULLIF({sql}, {double(float('nan'), dialect)})"


def checked(operator: str, left: str, right: str, dialect: Dialect) -> str:
    """BIGINT arithmetic in which overflow is NULL."""
    if dialect is Dialect.DUCKDB:
        return f"TRY({left} {operator} {right})"
    return f"{_TRY[operator]}({left}, {right})"


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
            return f"CASE WHEN {sql} BETWEEN {low} AND {high} THEN {timestamp(sql, dialect)} END"
        case DataType.INTERVAL:
            return interval(sql, dialect)
        case _:
            return sql


def timestamp(micros: str, dialect: Dialect) -> str:
    """The timestamp so many microseconds after 1970."""
    return f"make_timestamp({micros})" if dialect is Dialect.DUCKDB else f"timestamp_micros({micros})"


def clamped(sql: str, low: int, high: int) -> str:
    """An integer brought into a range; NULL stays NULL, which GREATEST and LEAST would not do."""
    return f"CASE WHEN {sql} < {low} THEN {low} WHEN {sql} > {high} THEN {high} ELSE {sql} END"


def matches(sql: str, pattern: str, dialect: Dialect) -> str:
    """Whether the whole text matches a regular expression."""
    if dialect is Dialect.DUCKDB:
        return f"regexp_full_match({sql}, {text(pattern, dialect)})"
    anchored = text(rf"^(?:{pattern})\z", dialect)
    return f"({sql} RLIKE {anchored})"
