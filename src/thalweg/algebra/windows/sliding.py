"""`[RANGE w]`, `[RANGE w SLIDE b]`: the last w of time, moving every b. Tumbling when b >= w. `[NOW]` is one tick.

scope(t) = [e - w + 1, e] where e is the last multiple of b (counted from `origin`) at or before t.

    RANGE 4 SLIDE 2, a tuple x at ts 3:
    t      1  2  3  4  5  6  7  8
    scope [..2][..2][..4][..4][..6][..6][..8]
    x               .  x  x  x  x  .          enters at 4, the first slide after 3; leaves at 8 >= 3 + 4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.windows.base import LogicalWindow, Scope, Ticks, require_positive
from thalweg.core.time import Clock, Instant


@dataclass(frozen=True)
class Range(LogicalWindow):
    """PatroumpasSellis2011 §3.2. A slide of one tick moves with every instant."""

    width: int
    slide: int = 1
    origin: Instant = 0

    def __post_init__(self) -> None:
        require_positive("RANGE", self.width)
        require_positive("SLIDE", self.slide)

    @property
    def is_tumbling(self) -> bool:
        """Whether no two states overlap; a one-tick window is NOW, which slides."""
        return self.slide >= self.width and self.slide > 1

    def scope(self, t: Instant) -> Scope:
        """The w ticks that end at the last slide."""
        end = t - (t - self.origin) % self.slide
        return Scope(end - self.width + 1, end)

    def lifetimes(self, ts: Ticks) -> tuple[Ticks, Ticks]:
        """Both ts and ts + w, rounded up to the next slide."""
        return self._round_up(ts), self._round_up(ts + self.width)

    def _round_up(self, ts: Ticks) -> Ticks:
        return ts + (self.origin - ts) % self.slide

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[RANGE 60 SECONDS SLIDE 10 SECONDS]`."""
        slide = f" SLIDE {clock.show_extent(self.slide)}" if self.slide > 1 else ""
        start = f" START AT {clock.show(self.origin)}" if self.origin else ""
        return f"[RANGE {clock.show_extent(self.width)}{slide}{start}]"


@dataclass(frozen=True)
class Now(LogicalWindow):
    """`[NOW]`: a sliding window of a single tick (PatroumpasSellis2011 §3.2). scope(t) = [t, t]."""

    def scope(self, t: Instant) -> Scope:
        """This instant alone."""
        return Scope(t, t)

    def lifetimes(self, ts: Ticks) -> tuple[Ticks, Ticks]:
        """One tick."""
        return ts, ts + 1

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[NOW]`."""
        return "[NOW]"
