"""Time is int64 ticks. A stream's clock says what a tick is: a microsecond, or a plain integer.

Timestamps are microseconds since 1970-01-01 00:00:00, without a time zone (read them as UTC).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import Enum

from thalweg.core.errors import DataError, ThalwegError

Instant = int

# Bounds of the time domain: far outside any real instant, and safe to add window extents to.
BEGINNING: Instant = -(2**62)
FOREVER: Instant = 2**62

# The range of TIMESTAMP values: the years 1 to 9999. A scalar result outside of it is NULL.
FIRST_TIMESTAMP: Instant = -62_135_596_800_000_000
LAST_TIMESTAMP: Instant = 253_402_300_799_999_999

# The longest time of a tuple or a window: the sum of two such times stays between BEGINNING and FOREVER.
LONGEST = 2**60

SECOND = 1_000_000
DAY = 86_400 * SECOND

UNITS: dict[str, int] = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": SECOND,
    "MINUTE": 60 * SECOND,
    "HOUR": 3_600 * SECOND,
    "DAY": DAY,
}
_ALIASES = {"US": "MICROSECOND", "MS": "MILLISECOND", "SEC": "SECOND", "MIN": "MINUTE"}

_EPOCH = datetime(1970, 1, 1)
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?")


class Clock(Enum):
    """What one tick of a stream's time means."""

    TICKS = "ticks"
    TIMESTAMPS = "timestamps"

    def show(self, t: Instant) -> str:
        """`t` as text for people."""
        if t <= BEGINNING:
            return "the beginning"
        if t >= FOREVER:
            return "forever"
        return format_timestamp(t) if self is Clock.TIMESTAMPS else str(t)

    def show_extent(self, ticks: int) -> str:
        """A length of time as CQL would write it: `90 SECONDS`, or a plain number of ticks."""
        return format_duration(ticks) if self is Clock.TIMESTAMPS else str(ticks)


def unit_ticks(unit: str) -> int | None:
    """Microseconds in one `unit` (`SECOND`, `minutes`, `ms` ...), or None if it is not a unit of time."""
    name = unit.upper()
    name = _ALIASES.get(name, name)
    return UNITS.get(name) or UNITS.get(name.removesuffix("S"))


def to_datetime(t: Instant) -> datetime:
    """The naive UTC datetime of microsecond `t`."""
    return _EPOCH + timedelta(microseconds=t)


def from_datetime(value: datetime) -> Instant:
    """Microseconds since the epoch; an aware datetime is turned to UTC first."""
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - _EPOCH) // timedelta(microseconds=1)


def parse_timestamp(text: str) -> Instant:
    """Microseconds of an ISO 8601 date or timestamp; ThalwegError if it is none."""
    try:
        return from_datetime(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        raise DataError(
            f"expected a timestamp, got {text!r}", hint="write it as '2026-01-31 07:00:00' (ISO 8601)"
        ) from None


def parse_time_of_day(text: str) -> int | None:
    """Microseconds since midnight for `07:00` or `07:00:00.5`, or None if the text is no time of day."""
    if not _TIME_OF_DAY.fullmatch(text.strip()):
        return None
    return parse_timestamp(f"1970-01-01 {text.strip().zfill(5)}")


def format_timestamp(t: Instant) -> str:
    """ISO text of microsecond `t`, without needless fractions."""
    return to_datetime(t).isoformat(sep=" ")


def format_duration(micros: int) -> str:
    """A duration in its largest whole unit: `60 MINUTES` is `1 HOUR`.

    >>> format_duration(90_000_000)
    '90 SECONDS'
    """
    for name in reversed(UNITS):
        count, rest = divmod(micros, UNITS[name])
        if rest == 0 and (count != 0 or name == "MICROSECOND"):
            return f"{count} {name}{'' if abs(count) == 1 else 'S'}"
    raise ThalwegError(f"no unit fits {micros}")  # pragma: no cover - microseconds always fit


def parse_duration(text: str) -> int:
    """Microseconds of `5 seconds`, `100 ms`, `1 hour 30 minutes`."""
    parts = re.findall(r"([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]+)", text)
    if not parts or re.sub(r"([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]+)|\s", "", text):
        raise DataError(
            f"expected a duration, got {text!r}",
            candidates=(f"{u.lower()}s" for u in UNITS),
            hint="'5 seconds'",
        )
    total = 0
    for number, unit in parts:
        ticks = unit_ticks(unit)
        if ticks is None:
            raise DataError(f"unknown unit of time {unit!r}", candidates=(f"{u.lower()}s" for u in UNITS))
        total += round(float(number) * ticks)
    return total
