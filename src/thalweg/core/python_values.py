"""Converts Python values to rows and back: a user's datetime is stored as int64 microseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from thalweg.core.errors import DataError
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Field, Schema
from thalweg.core.time import (
    FIRST_TIMESTAMP,
    LAST_TIMESTAMP,
    LONGEST,
    Clock,
    Instant,
    from_datetime,
    parse_duration,
    parse_timestamp,
    to_datetime,
)
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType

RowLike = Sequence[Any] | Mapping[str, Any]

PYTHON_TYPES: dict[type, DataType] = {
    bool: DataType.BOOLEAN,
    int: DataType.BIGINT,
    float: DataType.DOUBLE,
    str: DataType.STRING,
    datetime: DataType.TIMESTAMP,
    timedelta: DataType.INTERVAL,
}


def from_python(type_: DataType, value: Any) -> Value:
    """`value` as `type_` stores it, or None if it does not fit; an int is fine for a DOUBLE."""
    match type_, value:
        case DataType.BOOLEAN, bool():
            return value
        case DataType.BIGINT, int() if not isinstance(value, bool) and INT64_MIN <= value <= INT64_MAX:
            return int(value)
        case DataType.DOUBLE, int() | float() if not isinstance(value, bool):
            return float(value) + 0.0  # zero has no sign
        case DataType.STRING, str() if value.isascii() or value.encode(errors="ignore").decode() == value:
            return value
        case DataType.TIMESTAMP, _:
            return read_timestamp(value)
        case DataType.INTERVAL, timedelta():
            return value // timedelta(microseconds=1)
        case DataType.INTERVAL, str():
            return parse_duration(value)
        case DataType.INTERVAL, int() if not isinstance(value, bool):
            return int(value)
    return None


def read_timestamp(value: Any) -> int | None:
    """Microseconds of a datetime, an ISO text or an integer; None if it is none of them."""
    match value:
        case datetime():
            return from_datetime(value)
        case str():
            return parse_timestamp(value)
        case int() if not isinstance(value, bool) and FIRST_TIMESTAMP <= value <= LAST_TIMESTAMP:
            return int(value)
    return None


def to_python(type_: DataType, value: Value) -> Any:
    """A stored value as a Python object: timestamps are datetimes, intervals are timedeltas."""
    if value is None:
        return None
    if type_ is DataType.TIMESTAMP:
        return to_datetime(int(value))
    if type_ is DataType.INTERVAL:
        return timedelta(microseconds=int(value))
    return value


def read_row(schema: Schema, values: RowLike, where: str) -> Row:
    """A row of `schema` from a sequence in its order, or a mapping by its names (absent names are NULL)."""
    if isinstance(values, Mapping):
        unknown = [k for k in values if not schema.find(str(k))]
        if unknown:
            raise DataError(f"{where}: there is no column {unknown[0]}", candidates=schema.names)
        by_name = {str(k).casefold(): v for k, v in values.items()}
        values = [by_name.get(name.casefold()) for name in schema.names]
    if isinstance(values, str) or len(values) != len(schema):
        raise DataError(f"{where}: expected {len(schema)} values {schema}, got {values!r}")
    return tuple(read_value(field, value, where) for field, value in zip(schema, values, strict=True))


def read_value(field: Field, value: Any, where: str) -> Value:
    """A column's value, checked; NaN is NULL, an int is fine for a DOUBLE."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    try:
        read = from_python(field.type, value)
    except DataError as error:
        raise DataError(f"{where}: column {field.name}: {error.message}", hint=error.hint) from None
    if read is None:
        raise DataError(f"{where}: column {field.name} wants {field.type}, got {value!r} ({type(value).__name__})")
    return read


def read_instant(clock: Clock, value: Any, where: str) -> Instant:
    """A point in time: an integer, or on a timestamp clock a datetime or ISO text."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not -LONGEST <= value <= LONGEST:
            raise DataError(f"{where}: a time lies between -{LONGEST} and {LONGEST}, got {value}")
        return int(value)
    read = read_timestamp(value) if clock is Clock.TIMESTAMPS else None
    if read is None:
        wanted = "a timestamp" if clock is Clock.TIMESTAMPS else "an integer"
        raise DataError(f"{where}: expected {wanted} as time, got {value!r}")
    return read


def show_row(schema: Schema, row: Row) -> tuple[Any, ...]:
    """A stored row as Python objects: timestamps are datetimes, intervals are timedeltas."""
    return tuple(to_python(f.type, v) for f, v in zip(schema, row, strict=True))


def show_instant(clock: Clock, t: Instant) -> Any:
    """A stored instant as a Python object: a datetime, or an integer."""
    return to_datetime(t) if clock is Clock.TIMESTAMPS else t
