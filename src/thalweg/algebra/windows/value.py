"""`[RANGE x ON attribute]`: a column serves as the clock (PatroumpasSellis2011 §3.1: value-based windows).

With m(t) the greatest value of the attribute so far, the window shows the tuples with m(t) - x < value <= m(t).
A tuple that arrives more than x behind m is never shown, nor is one whose attribute is NULL.

    RANGE 10 ON a, arrivals a = 5, 12, 3, 16
    shows   5 | 5 12 | 5 12 3 | 12 16
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.windows.base import BaseWindow
from thalweg.core.errors import WindowError
from thalweg.core.rows import Arrival
from thalweg.core.time import FOREVER, Clock, Instant, format_duration
from thalweg.core.types import DataType


@dataclass(frozen=True)
class ValueRange(BaseWindow):
    """Expires by the order of values, not by time."""

    column: int
    width: int | float
    type: DataType  # of the column: BIGINT, DOUBLE or TIMESTAMP

    def __post_init__(self) -> None:
        if self.width <= 0:
            raise WindowError(f"RANGE must be greater than zero, got {self.width}")
        if self.type not in (DataType.BIGINT, DataType.DOUBLE, DataType.TIMESTAMP):
            raise WindowError(
                f"RANGE ... ON needs a number or a timestamp, the column is {self.type}",
                hint="values must have a distance",
            )

    @property
    def columns(self) -> tuple[int, ...]:
        """The attribute."""
        return (self.column,)

    def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
        """The tuples within `width` of the greatest value so far."""
        values = [(a.row[self.column], a) for a in arrivals]
        numbers = [v for v, _ in values if isinstance(v, int | float)]
        if not numbers:
            return []
        floor = max(numbers) - self.width
        return [a for v, a in values if isinstance(v, int | float) and v > floor]

    def expiry(self, ts: Instant) -> Instant:
        """Time alone ends nothing."""
        return FOREVER

    def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
        """Contents change only when a tuple arrives."""
        return (ts,)

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[RANGE 10 ON price]`."""
        shown = format_duration(int(self.width)) if self.type is DataType.TIMESTAMP else str(self.width)
        return f"[RANGE {shown} ON {names[self.column]}]"
