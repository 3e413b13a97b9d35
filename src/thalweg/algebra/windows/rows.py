"""`[ROWS n]`, `[ROWS n SLIDE m]`: the last n of the first floor(count/m)*m arrivals.

ROWS 3 SLIDE 2, arrivals a b c d e one per instant
t       1   2    3    4      5
shows   -   ab   ab   bcd    bcd
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.windows.base import BaseWindow, require_positive
from thalweg.core.rows import Arrival
from thalweg.core.time import FOREVER, Clock, Instant


@dataclass(frozen=True)
class Rows(BaseWindow):
    """Count-based sliding window (PatroumpasSellis2011 §3.3): FIFO by order of expiration, not by time."""

    count: int
    slide: int = 1

    def __post_init__(self) -> None:
        require_positive("ROWS", self.count)
        require_positive("SLIDE", self.slide)

    @property
    def is_tumbling(self) -> bool:
        """Whether no two states overlap."""
        return self.slide >= self.count and self.slide > 1

    def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
        """The last n, where arrivals are let in m at a time."""
        admitted = len(arrivals) // self.slide * self.slide
        return list(arrivals[max(0, admitted - self.count) : admitted])

    def expiry(self, ts: Instant) -> Instant:
        """Time alone ends nothing."""
        return FOREVER

    def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
        """Contents change only when a tuple arrives."""
        return (ts,)

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[ROWS 100]`."""
        return f"[ROWS {self.count}{f' SLIDE {self.slide}' if self.slide > 1 else ''}]"
