"""A value as text and as JSON, and unique names for columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from thalweg.core.time import format_duration, format_timestamp, from_datetime
from thalweg.core.visible import visible_json


def as_text(value: Any, null: str = "NULL") -> str:
    """A value as text, for people and CSV files: timestamps in ISO 8601, intervals as in CQL."""
    match value:
        case None:
            return null
        case bool():
            return str(value).lower()
        case datetime():
            return format_timestamp(from_datetime(value))
        case timedelta():
            return format_duration(value // timedelta(microseconds=1))
    return str(value)


def as_json(value: Any) -> Any:
    """A value for JSON; timestamps, intervals and infinity, which JSON does not have, become text."""
    if isinstance(value, datetime | timedelta) or (isinstance(value, float) and math.isinf(value)):
        return as_text(value)
    return value


def json_text(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """JSON as text, exact and harmless: characters that steer a terminal are written as JSON's escapes."""
    return visible_json(json.dumps(value, ensure_ascii=False, allow_nan=allow_nan, indent=indent))


def unique(names: Iterable[str]) -> list[str]:
    """The names; a name that occurs again gets a number.

    >>> unique(["t", "a", "a"])
    ['t', 'a', 'a_2']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        tries = (name if n == 1 else f"{name}_{n}" for n in range(1, len(taken) + 2))
        free = next(candidate for candidate in tries if candidate not in taken)
        taken.add(free)
        found.append(free)
    return found
