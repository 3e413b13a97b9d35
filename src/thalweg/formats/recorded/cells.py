"""One cell of a file, read as the declared type of its column."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from thalweg.algebra.expressions.texts import BIGINT_TEXT, DOUBLE_TEXT, FALSE_TEXTS, TRUE_TEXTS
from thalweg.core.errors import DataError
from thalweg.core.python_values import read_value
from thalweg.core.rows import Value
from thalweg.core.schema import Field
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP, parse_duration, parse_timestamp
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType


def read_text(field: Field, text: str, where: str) -> Value:
    """A cell of a CSV file: an empty cell is NULL, any other must fit the column's type."""
    bare = text if field.type is DataType.STRING else text.strip()
    if bare == "" or (field.type is DataType.DOUBLE and bare.casefold() == "nan"):
        return None
    try:
        return _TEXTS[field.type](bare)
    except (DataError, ValueError, OverflowError):
        raise bad_cell(field, text, where) from None


def read_plain(field: Field, value: Any, where: str) -> Value:
    """A cell that already has a type: a JSON value, or a Parquet value as a Python object."""
    try:
        read = read_value(field, value, where)
    except DataError:
        raise bad_cell(field, value, where) from None
    if field.type is DataType.TIMESTAMP and read is not None and not FIRST_TIMESTAMP <= int(read) <= LAST_TIMESTAMP:
        raise bad_cell(field, value, where)
    return read


def bad_cell(field: Field, value: Any, where: str) -> DataError:
    """The error for a cell that does not fit: its place, its column, the type wanted, the value found."""
    return DataError(f"{where}: column {field.name} wants {field.type}, got {value!r}", hint=_HINTS.get(field.type))


def _bigint(text: str) -> int:
    if not re.fullmatch(BIGINT_TEXT, text) or not INT64_MIN <= int(text) <= INT64_MAX:
        raise ValueError
    return int(text)


def _double(text: str) -> float:
    if not re.fullmatch(DOUBLE_TEXT, text):  # float() alone would read 1_000
        raise ValueError
    return float(text)


def _boolean(text: str) -> bool:
    word = text.lower()
    if word not in TRUE_TEXTS + FALSE_TEXTS:
        raise ValueError
    return word in TRUE_TEXTS


_TEXTS: dict[DataType, Callable[[str], Value]] = {
    DataType.BOOLEAN: _boolean,
    DataType.BIGINT: _bigint,
    DataType.DOUBLE: _double,
    DataType.STRING: str,
    DataType.TIMESTAMP: parse_timestamp,
    DataType.INTERVAL: parse_duration,
}

_HINTS = {
    DataType.BOOLEAN: "write true or false",
    DataType.TIMESTAMP: "write it as 2026-01-31 07:00:00 (ISO 8601)",
    DataType.INTERVAL: "write it as 5 seconds",
}
