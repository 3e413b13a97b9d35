"""RANGE, NOW, UNBOUNDED and landmark windows: the lifetime of a tuple is known when it arrives."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.windows import LogicalWindow
from thalweg.core.batch import Batch, Dates
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.state.timeline import Timeline


class LogicalWindowing(Operator, kind="logical-window/1"):
    """A stream tuple +-[ts, FOREVER) becomes +-[start, end), the lifetime that the window gives to ts.

    Linear, so the same holds for negative tuples of derived streams. Update pattern: WKS (MON if tuples do not end).
    State: the tuples that wait for the next slide. Paper: PatroumpasSellis2011 §3.2.

        RANGE 4 SLIDE 2
        t        1  2  3  4  5  6  7  8
        x              arrives
        output            +x[4, 8)
    """

    KEPT = ("_waiting",)

    def __init__(self, window: LogicalWindow, schema: Schema, dated: bool) -> None:
        self._window = window
        self._dated = dated
        self._nothing = Batch.empty(schema, dated)
        self._waiting = Timeline()

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples whose lifetimes start by `now`."""
        due = self._due(now)
        arrived = inputs[0]
        start, end = self._window.lifetimes(arrived.start)
        dates = Dates(arrived.start, end) if self._dated else None
        lived = Batch(arrived.columns, arrived.start, arrived.end, arrived.sign, dates).between(start, end)
        later = lived.start > now
        if later.any():
            self._wait(lived.take(later))
            lived = lived.take(~later)
        return Batch.concat([lived, due])

    @property
    def stored(self) -> int:
        """The tuples that wait for the next slide."""
        return len(self._waiting)

    @property
    def next_wake(self) -> Instant:
        """The next instant at which a waiting tuple enters."""
        return self._waiting.first()

    def _wait(self, tuples: Batch) -> None:
        ts = () if tuples.dates is None else (tuples.dates.ts,)
        self._waiting.add(tuples.start, tuples.end, tuples.sign, *tuples.columns, *ts)

    def _due(self, now: Instant) -> Batch:
        found = self._waiting.due(now)
        if found is None:
            return self._nothing
        start, end, sign, *rest = found
        dates = Dates(rest.pop(), end) if self._dated else None
        return Batch(tuple(rest), start, end, sign, dates)
