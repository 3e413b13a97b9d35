"""RANGE, NOW, UNBOUNDED and landmarks: each tuple's lifetime is known when it arrives."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.windows import LogicalWindow
from thalweg.core.batch import Batch, Dates
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.state.timeline import Timeline


class LogicalWindowing(Operator, kind="logical-window/1"):
    """sign [ts, FOREVER) becomes sign [start, end), the window's lifetime of ts (PatroumpasSellis2011 §3.2).

    Linear, so a tuple that is taken back needs nothing special. Pattern: WKS (MON if nothing ends). State: what has
    arrived but waits for the next slide.

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
        """Lifetimes that have begun by `now`."""
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
        """The tuples that wait."""
        return len(self._waiting)

    @property
    def next_wake(self) -> Instant:
        """When the next tuple that waits is let in."""
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
