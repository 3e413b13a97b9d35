"""Batches: columnar sets of signed intervals, the only thing that flows between operators.

A tuple of a batch says: from `start` until `end` the row counts `sign` times. The bag at t is the sum over all tuples

    Q(t)(row) = sum of sign where start <= t < end

A positive tuple with a known end needs no negative one (the direct approach). A premature end at u is the tuple
-[u, end), which cancels the rest. With end = FOREVER everywhere, only negative tuples end a row (the NT approach).
Linear operators (select, project, union, join) treat signs and intervals alike; the others sweep over starts and ends.

An operator may rely on this, where `now` is the clock of the batch and `before` the clock of the batch before:
  * before <= start <= now (tuples of one instant may come in several batches), and start < end;
  * after this batch, all tuples that start up to now have come;
  * Q(t) is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Dates:
    """`ts` and `exp` of each tuple (docs/semantics.md, "Operators and dates"); kept only where a plan needs them."""

    ts: Ints
    exp: Ints

    def take(self, rows: Lane | slice) -> Dates:
        """The dates of some rows."""
        return Dates(self.ts[rows], self.exp[rows])


@dataclass(frozen=True)
class Batch:
    """Columns as lanes, and for each tuple its sign and interval."""

    columns: tuple[Lane, ...]
    start: Ints
    end: Ints
    sign: Signs
    dates: Dates | None = None

    @staticmethod
    def empty(schema: Schema, dated: bool = False) -> Batch:
        """No tuples."""
        none = np.empty(0, dtype=np.int64)
        columns = tuple(np.empty(0, dtype=lane_dtype(f.type)) for f in schema)
        return Batch(columns, none, none, np.empty(0, dtype=np.int8), Dates(none, none) if dated else None)

    @staticmethod
    def of_arrivals(columns: Sequence[Lane], ts: Ints, dated: bool = False) -> Batch:
        """Stream tuples: they stay from ts on."""
        forever = np.full(len(ts), FOREVER)
        signs = np.ones(len(ts), dtype=np.int8)
        return Batch(tuple(columns), ts, forever, signs, Dates(ts, forever) if dated else None)

    def __len__(self) -> int:
        return len(self.start)

    # All operators call these with every batch; `dataclasses.replace` would take several times as long.

    def take(self, rows: Lane | slice) -> Batch:
        """The tuples at some positions, or where a mask is true; a slice copies nothing."""
        return Batch(
            tuple([c[rows] for c in self.columns]),
            self.start[rows],
            self.end[rows],
            self.sign[rows],
            self.dates.take(rows) if self.dates is not None else None,
        )

    def with_columns(self, columns: Sequence[Lane]) -> Batch:
        """Other columns for the same tuples."""
        return Batch(tuple(columns), self.start, self.end, self.sign, self.dates)

    def negated(self) -> Batch:
        """The same tuples with opposite signs."""
        return Batch(self.columns, self.start, self.end, -self.sign, self.dates)

    def between(self, start: Ints, end: Ints) -> Batch:
        """The same tuples in other intervals; those left empty are dropped."""
        moved = Batch(self.columns, start, end, self.sign, self.dates)
        alive = start < end
        return moved if alive.all() else moved.take(alive)

    def copy(self) -> Batch:
        """A copy in memory of its own."""
        dates = None if self.dates is None else Dates(self.dates.ts.copy(), self.dates.exp.copy())
        columns = tuple(lane.copy() for lane in self.columns)
        return Batch(columns, self.start.copy(), self.end.copy(), self.sign.copy(), dates)

    @staticmethod
    def concat(batches: Sequence[Batch]) -> Batch:
        """Several batches as one."""
        parts = [b for b in batches if len(b)] or list(batches[:1])
        if len(parts) == 1:
            return parts[0]
        dates = [p.dates for p in parts if p.dates is not None]
        return Batch(
            tuple(np.concatenate(lanes) for lanes in zip(*(p.columns for p in parts), strict=True)),
            np.concatenate([p.start for p in parts]),
            np.concatenate([p.end for p in parts]),
            np.concatenate([p.sign for p in parts]),
            Dates(np.concatenate([d.ts for d in dates]), np.concatenate([d.exp for d in dates]))
            if len(dates) == len(parts)
            else None,
        )
