"""CAST, one value at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from thalweg.algebra.expressions.texts import BIGINT_TEXT, DOUBLE_TEXT, FALSE_TEXTS, TIMESTAMP_TEXT, TRUE_TEXTS
from thalweg.core.errors import DataError
from thalweg.core.rows import Value
from thalweg.core.time import Instant, format_timestamp, parse_timestamp
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType


def cast(value: Value, given: DataType, wanted: DataType) -> Value:
    """`value` as `wanted`, or None where that is impossible."""
    if value is None:
        return None
    result: Value = SCALAR_CASTS[given, wanted](value)
    if wanted is DataType.BIGINT and isinstance(result, int):
        return result if INT64_MIN <= result <= INT64_MAX else None
    return result


def _to_boolean(text: str) -> bool | None:
    word = text.strip(" ").lower()
    return True if word in TRUE_TEXTS else False if word in FALSE_TEXTS else None


def _read(pattern: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    def reader(text: str) -> Any:
        text = text.strip(" ")
        return read(text) if re.fullmatch(pattern, text) else None

    return reader


def _to_timestamp(text: str) -> Instant | None:
    try:
        return parse_timestamp(text)
    except DataError:  # a day that its month does not have
        return None


def _show_timestamp(t: Instant) -> str:
    text = format_timestamp(t)
    return text.rstrip("0") if "." in text else text


SCALAR_CASTS: dict[tuple[DataType, DataType], Callable[[Any], Any]] = {
    (DataType.BOOLEAN, DataType.BIGINT): int,
    (DataType.BOOLEAN, DataType.STRING): lambda b: str(b).lower(),
    (DataType.BIGINT, DataType.BOOLEAN): lambda n: n != 0,
    (DataType.BIGINT, DataType.DOUBLE): float,
    (DataType.BIGINT, DataType.STRING): str,
    (DataType.DOUBLE, DataType.BIGINT): lambda x: math.trunc(x) if math.isfinite(x) else None,
    (DataType.DOUBLE, DataType.STRING): lambda x: repr(x + 0.0),  # zero has no sign
    (DataType.STRING, DataType.BOOLEAN): _to_boolean,
    (DataType.STRING, DataType.BIGINT): _read(BIGINT_TEXT, lambda text: int(Decimal(text))),
    (DataType.STRING, DataType.DOUBLE): _read(DOUBLE_TEXT, float),
    (DataType.STRING, DataType.TIMESTAMP): _read(TIMESTAMP_TEXT, _to_timestamp),
    (DataType.TIMESTAMP, DataType.STRING): _show_timestamp,
}
