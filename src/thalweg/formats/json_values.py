"""One JSON line at a time, by the types of the columns: slow, but it knows why a line is bad."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from thalweg.core.errors import DataError
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Field, Schema
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP, LONGEST, SECOND, parse_timestamp
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.formats.names import plain


def read_json_line(text: str, schema: Schema) -> Row:
    """The values of a line, times as microseconds; a DataError if the line is bad."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise DataError(f"this is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise DataError("expected a JSON object")
    by_name = by_plain_name(found)
    return tuple(_value(field, by_name.get(plain(field.name).casefold())) for field in schema)


def by_plain_name(found: Mapping[str, Any]) -> dict[str, Any]:
    """An object's values by name, in lower case and with underscores for dots."""
    return {plain(name).casefold(): value for name, value in found.items()}


def number_text(number: float) -> str:
    """The text of a number that stands in a list."""
    return f"{number:.15g}"


def _value(field: Field, value: Any) -> Value:
    if value is None:
        return None
    if field.type is DataType.STRING:
        return _text(value)
    fits, read = _WANTED[field.type]
    if isinstance(value, bool) == (field.type is DataType.BOOLEAN) and isinstance(value, fits):
        try:
            return read(value)
        except (DataError, ValueError, OverflowError):
            pass
    raise DataError(f"column {field.name} wants {field.type}, got {value!r}")


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case list():
            return ",".join(number_text(v) if isinstance(v, float | int) else _text(v) for v in value)
        case _:
            return json.dumps(value)


def _bigint(value: float) -> int:
    if int(value) != value or not INT64_MIN <= value <= INT64_MAX:
        raise ValueError
    return int(value)


def _timestamp(value: float | str) -> int:
    micros = parse_timestamp(value) if isinstance(value, str) else round(value * SECOND)
    if not FIRST_TIMESTAMP <= micros <= LAST_TIMESTAMP:
        raise ValueError
    return micros


def _interval(value: float) -> int:
    micros = round(value * SECOND)
    if abs(micros) > LONGEST:
        raise ValueError
    return micros


def _double(value: float) -> float | None:
    return None if value != value else float(value)


_WANTED: dict[DataType, tuple[tuple[type, ...], Callable[[Any], Value]]] = {
    DataType.BOOLEAN: ((bool,), bool),
    DataType.BIGINT: ((int, float), _bigint),
    DataType.DOUBLE: ((int, float), _double),
    DataType.TIMESTAMP: ((int, float, str), _timestamp),
    DataType.INTERVAL: ((int, float), _interval),
}
