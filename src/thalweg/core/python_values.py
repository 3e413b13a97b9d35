"""Between Python's own values and those of rows: a TIMESTAMP is a datetime outside, int64 microseconds inside."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from thalweg.core.rows import Value
from thalweg.core.time import (
    FIRST_TIMESTAMP,
    LAST_TIMESTAMP,
    from_datetime,
    parse_duration,
    parse_timestamp,
    to_datetime,
)
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType

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
    """A row's value as Python users want it: timestamps are datetimes, intervals are timedeltas."""
    if value is None:
        return None
    if type_ is DataType.TIMESTAMP:
        return to_datetime(int(value))
    if type_ is DataType.INTERVAL:
        return timedelta(microseconds=int(value))
    return value
