"""Windows that tuples never leave: landmark windows, and `[RANGE UNBOUNDED]`.

`[UNBOUNDED START AT x]`, `[UNTIL y]`, `[FROM x UNTIL y]`: scope(t) = [x, min(t, y)], empty before x.

    FROM 3 UNTIL 5
    t      1  2  3      4      5      6      7
    scope  -  -  [3,3]  [3,4]  [3,5]  [3,5]  [3,5]

`[RANGE UNBOUNDED]`, or no window at all: scope(t) = (beginning, t].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.windows.base import LogicalWindow, Scope, Ticks
from thalweg.core.errors import WindowError
from thalweg.core.time import BEGINNING, FOREVER, Clock, Instant


@dataclass(frozen=True)
class Landmark(LogicalWindow):
    """Lower-bounded, upper-bounded or fixed-band landmark window (PatroumpasSellis2011 §3.2)."""

    start: Instant = BEGINNING
    end: Instant = FOREVER

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise WindowError(
                f"a landmark window must start before it ends, got FROM {self.start} UNTIL {self.end}",
                hint="swap the two instants",
            )

    def scope(self, t: Instant) -> Scope:
        """From the landmark to now, frozen once `end` is reached."""
        return Scope(self.start, min(t, self.end))

    def lifetimes(self, ts: Ticks) -> tuple[Ticks, Ticks]:
        """Forever for tuples within the band; others are never shown."""
        inside = (ts >= self.start) & (ts <= self.end)
        return ts, np.where(inside, FOREVER, ts)

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[FROM x UNTIL y]` or one of its halves."""
        start, end = (_quoted(clock, t) for t in (self.start, self.end))
        if self.end >= FOREVER:
            return f"[UNBOUNDED START AT {start}]"
        if self.start <= BEGINNING:
            return f"[UNTIL {end}]"
        return f"[FROM {start} UNTIL {end}]"


def _quoted(clock: Clock, t: Instant) -> str:
    return f"'{clock.show(t)}'" if clock is Clock.TIMESTAMPS else clock.show(t)


@dataclass(frozen=True)
class Unbounded(LogicalWindow):
    """The stream's current contents (PatroumpasSellis2011, definition 4)."""

    def scope(self, t: Instant) -> Scope:
        """All instants up to t."""
        return Scope(BEGINNING, t)

    def lifetimes(self, ts: Ticks) -> tuple[Ticks, Ticks]:
        """From arrival on, without end."""
        return ts, np.full_like(ts, FOREVER)

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[RANGE UNBOUNDED]`."""
        return "[RANGE UNBOUNDED]"
