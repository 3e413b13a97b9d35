"""Values and instants from the text of cells, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from thalweg.core.errors import ThalwegError
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Field
from thalweg.core.time import (
    BEGINNING,
    DAY,
    Clock,
    Instant,
    format_duration,
    parse_duration,
    parse_time_of_day,
    parse_timestamp,
)
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.scenarios.cells import Cell

_BOOLEANS = {"TRUE": True, "FALSE": False}


def read_value(cell: Cell, field: Field) -> Value:
    """The value of a cell in a column; NULL without quotes is NULL in any column."""
    if cell.text.upper() == "NULL" and not cell.quoted:
        return None
    if field.type is DataType.STRING:
        return cell.text
    try:
        value = _read(cell.text, field.type)
    except ThalwegError as error:
        raise cell.error(error.message, error.hint) from None
    if value is None:
        raise cell.error(f"column {field.name} wants {field.type}, got {cell.text!r}")
    return value


def read_row(cells: Iterable[Cell], fields: Iterable[Field]) -> Row:
    """One value per column; the caller has counted them."""
    return tuple(read_value(cell, field) for cell, field in zip(cells, fields, strict=True))


def read_time(cell: Cell, clock: Clock) -> Instant:
    """An instant: an integer, or on a timestamp clock ISO text (a bare time of day is of 1970-01-01)."""
    value = _read(cell.text, DataType.BIGINT) if clock is Clock.TICKS else _read_timestamp(cell)
    if not isinstance(value, int):
        raise cell.error(f"expected a time as an integer, got {cell.text!r}")
    return value


def show_value(value: Value, type_: DataType) -> str:
    """The cell that reads back as `value`."""
    match value, type_:
        case None, _:
            return "NULL"
        case bool(), _:
            return str(value).upper()
        case int(), DataType.TIMESTAMP:
            return show_time(value, Clock.TIMESTAMPS)
        case int(), DataType.INTERVAL:
            return format_duration(value)
        case str(), _:
            return value if _is_plain(value) else "'" + value.replace("'", "''") + "'"
    return repr(value)


def show_time(t: Instant, clock: Clock) -> str:
    """The text that reads back as `t`."""
    if t <= BEGINNING:
        return "-"
    shown = clock.show(t)
    return shown.split(" ")[1] if clock is Clock.TIMESTAMPS and 0 <= t < DAY else shown


def _read(text: str, type_: DataType) -> Value:
    """`text` read as `type_`; None if it does not fit."""
    match type_:
        case DataType.BOOLEAN:
            return _BOOLEANS.get(text.upper())
        case DataType.BIGINT:
            number = int(text) if re.fullmatch(r"[-+]?\d+", text) else None
            return number if number is not None and INT64_MIN <= number <= INT64_MAX else None
        case DataType.DOUBLE:
            return _read_double(text)
        case DataType.TIMESTAMP:
            of_day = parse_time_of_day(text)
            return parse_timestamp(text) if of_day is None else of_day
        case DataType.INTERVAL:
            return parse_duration(text)
    return None


def _read_double(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _read_timestamp(cell: Cell) -> Value:
    try:
        return _read(cell.text, DataType.TIMESTAMP)
    except ThalwegError as error:
        raise cell.error(error.message, error.hint) from None


def _is_plain(text: str) -> bool:
    """Whether a string needs no quotes."""
    blank = text != text.strip() or not text
    return not blank and not re.search(r"[|#\n]", text) and text[0] != "'" and text.upper() != "NULL"
