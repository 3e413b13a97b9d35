"""`[PARTITION BY a, b ROWS n [RANGE t [SLIDE t]]]`: the last n of each key, then cut to the range.

PARTITION BY k ROWS 1 RANGE 4, arrivals x1 y1 x2 at t = 1, 2, 3
t       1   2      3      4      5      6      7
shows   x1  x1 y1  y1 x2  y1 x2  y1 x2  x2     -
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.windows.base import BaseWindow, require_positive
from thalweg.algebra.windows.sliding import Range
from thalweg.core.errors import WindowError
from thalweg.core.rows import Arrival, Row
from thalweg.core.time import FOREVER, Clock, Instant


@dataclass(frozen=True)
class PartitionedRows(BaseWindow):
    """Partitioned window (PatroumpasSellis2011 §3.3): FIFO within a key, no order across keys."""

    keys: tuple[int, ...]
    count: int
    range: Range | None = None

    def __post_init__(self) -> None:
        require_positive("ROWS", self.count)
        if not self.keys:
            raise WindowError("PARTITION BY needs at least one column", hint="[ROWS n] is the window without keys")

    @property
    def columns(self) -> tuple[int, ...]:
        """The partitioning columns."""
        return self.keys

    def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
        """The last n of each key among the tuples let in so far, then those still in the range."""
        scope = self.range.scope(t) if self.range else None
        if scope is not None:
            arrivals = [a for a in arrivals if a.ts <= scope.last]
        parts: dict[Row, list[Arrival]] = defaultdict(list)
        for arrival in arrivals:
            parts[tuple(arrival.row[k] for k in self.keys)].append(arrival)
        last = sorted(a for part in parts.values() for a in part[-self.count :])
        return [a for a in last if scope is None or a.ts in scope]

    def expiry(self, ts: Instant) -> Instant:
        """The range's end, if there is a range; a newer tuple of the key may come first."""
        return self.range.expiry(ts) if self.range else FOREVER

    def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
        """Arrivals, and the range's edges."""
        return self.range.boundaries(ts) if self.range else (ts,)

    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """`[PARTITION BY a ROWS 10 RANGE 60 SECONDS]`."""
        keys = ", ".join(names[k] for k in self.keys)
        cut = f" {self.range.cql(names, clock)[1:-1]}" if self.range else ""
        return f"[PARTITION BY {keys} ROWS {self.count}{cut}]"
