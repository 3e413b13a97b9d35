"""Functions on timestamps, one value at a time, through Python's own calendar."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from thalweg.algebra.expressions.functions import DATE_TRUNC_UNITS
from thalweg.core.time import Instant, from_datetime, to_datetime
from thalweg.reference.strings import lower


def date_trunc(unit: str, t: Instant) -> Instant | None:
    """The start of the unit of time that contains `t`."""
    if lower(unit) not in DATE_TRUNC_UNITS:
        return None
    return from_datetime(_start(lower(unit), to_datetime(t)))


def _start(unit: str, moment: datetime) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return {
        "microsecond": moment,
        "millisecond": moment.replace(microsecond=moment.microsecond // 1000 * 1000),
        "second": moment.replace(microsecond=0),
        "minute": moment.replace(second=0, microsecond=0),
        "hour": moment.replace(minute=0, second=0, microsecond=0),
        "day": midnight,
        "week": midnight - timedelta(days=moment.weekday()),
        "month": midnight.replace(day=1),
        "quarter": midnight.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1),
        "year": midnight.replace(month=1, day=1),
    }[unit]


def to_timestamp(seconds: float) -> Instant | None:
    """The instant `seconds` after the start of 1970, to the nearest microsecond."""
    micros = seconds * 1e6
    return int(Decimal(micros).to_integral_value(ROUND_HALF_UP)) if math.isfinite(micros) else None


SCALARS: dict[str, Callable[..., Any]] = {
    "year": lambda t: to_datetime(t).year,
    "month": lambda t: to_datetime(t).month,
    "day": lambda t: to_datetime(t).day,
    "dayofweek": lambda t: to_datetime(t).isoweekday() % 7,
    "dayofyear": lambda t: to_datetime(t).timetuple().tm_yday,
    "hour": lambda t: to_datetime(t).hour,
    "minute": lambda t: to_datetime(t).minute,
    "second": lambda t: to_datetime(t).second,
    "epoch": lambda micros: float(micros) / 1e6,
    "to_timestamp": to_timestamp,
    "date_trunc": date_trunc,
}
