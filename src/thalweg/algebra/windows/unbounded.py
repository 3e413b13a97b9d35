"""`[RANGE UNBOUNDED]`, or no window at all: everything so far. scope(t) = (beginning, t]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.windows.base import LogicalWindow, Scope, Ticks
from thalweg.core.time import BEGINNING, FOREVER, Clock, Instant


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
