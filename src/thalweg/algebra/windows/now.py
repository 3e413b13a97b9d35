"""`[NOW]`: the tuples of this very instant. scope(t) = [t, t]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.windows.base import LogicalWindow, Scope, Ticks
from thalweg.core.time import Clock, Instant


@dataclass(frozen=True)
class Now(LogicalWindow):
    """A sliding window of a single tick (PatroumpasSellis2011 §3.2)."""

    def scope(self, t: Instant) -> Scope:
        """This instant alone."""
        return Scope(t, t)

    def lifetimes(self, ts: Ticks) -> tuple[Ticks, Ticks]:
        """One tick."""
        return ts, ts + 1

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[NOW]`."""
        return "[NOW]"
