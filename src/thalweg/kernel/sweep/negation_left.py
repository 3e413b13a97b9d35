"""The left side of a negation: its tuples as events, the order among them, and the alive tuples of each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, Lane, identity, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.queues import Queues
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.events import TupleEvents
from thalweg.kernel.sweep.ordering import order_by, precedes, sort_lane


class LeftEvents(NamedTuple):
    """Left tuples that arrive (`delta` 1) or leave (-1): when, the value's code, lanes (exp, ts if dated, columns)."""

    time: Ints
    delta: Ints
    code: Ints
    lanes: tuple[Lane, ...]

    def take(self, rows: Lane | slice) -> LeftEvents:
        """Some of the events."""
        return LeftEvents(self.time[rows], self.delta[rows], self.code[rows], tuple(lane[rows] for lane in self.lanes))


class NegationLeft(Stateful, kind="negation-left/1"):
    """The alive left tuples of each value, numbered 1, 2 ... in order of (exp, ts, row).

    `top` is D = (number of the last tuple) - (right tuples of the value): the tuples up to number D are in the answer.
    `rest` are the columns that may differ within a value. With `direct` a tuple ends at its exp without an event;
    otherwise every end is an event, made by a negative tuple (NT).
    """

    KEPT = ("queues", "top", "_ends")

    def __init__(self, schema: Schema, rest: Sequence[int], pool: StringPool, ordered: bool, direct: bool) -> None:
        self.dates = 2 if ordered else 1
        self.direct = direct
        self._rest = [(i, schema[i].type) for i in rest]
        self._pool = pool
        self.queues = Queues([np.int64] * self.dates + [lane_dtype(f.type) for f in schema])
        self.top = ByCode(np.int64, 0)
        self._ends = TupleEvents()

    def fit(self, codes: int) -> None:
        """Make room for all codes below `codes`."""
        self.queues.reach(codes)
        self.top.fit(codes)

    def clear(self, codes: int) -> None:
        """Forget tuples that have left, and give room back: all codes from `codes` on are free."""
        self.queues.clear(codes)
        self.top.cut(codes)

    @property
    def pending(self) -> Timeline:
        """The events that are not due."""
        return self._ends.pending

    def inhabited(self, clock: Instant) -> Ints:
        """The codes of values that have left tuples or right tuples."""
        self.queues.alive(self.expired_by(clock))
        codes = np.arange(min(len(self.queues.last), len(self.top.values)))
        first, last, top = self.queues.first[codes], self.queues.last[codes], self.top.values[codes]
        return np.flatnonzero((first < last) | (top != last))

    def events(self, batch: Batch, code: Ints, now: Instant) -> LeftEvents:
        """The arrivals and departures up to `now`; later ends are kept until due."""
        dates = (batch.end,) if batch.dates is None else (batch.dates.exp, batch.dates.ts)
        lanes = (code, *dates, *batch.columns)
        found = self._ends.of(batch.start, batch.end, batch.sign, lanes, now, self.until(dates[0]))
        time, delta, codes, *rest = found
        events = LeftEvents(time, delta, codes, tuple(rest))
        real = time < self.until(events.lanes[0])  # results carry the ends of tuples that time ends
        return events if bool(real.all()) else events.take(real)

    def until(self, exp: Ints) -> Ints:
        """The ends that results can carry: exp with `direct`, otherwise FOREVER."""
        return exp if self.direct else np.full(len(exp), FOREVER)

    def expired_by(self, clock: Instant) -> Instant:
        """Tuples with an exp up to this have ended without an event."""
        return clock if self.direct else BEGINNING

    def sort(self, events: LeftEvents) -> tuple[LeftEvents, Flags]:
        """Events sorted by value, time and order of tuples; and where a tuple belongs before the previous one."""
        events = events.take(order_by(events.code, events.time))
        wrong = self._out_of_order(events)
        if bool((wrong[1:] & (events.time[1:] == events.time[:-1])).any()):
            lanes = (*events.lanes[: self.dates], *self.row_order(events.lanes))
            events = events.take(order_by(events.code, events.time, *lanes))
            wrong = self._out_of_order(events)
        return events, wrong

    def _out_of_order(self, events: LeftEvents) -> Flags:
        wrong = np.zeros(len(events.code), dtype=np.bool_)
        if len(wrong) > 1:
            later, earlier = ([lane[rows] for lane in events.lanes] for rows in (slice(1, None), slice(None, -1)))
            wrong[1:] = (events.code[1:] == events.code[:-1]) & self.precedes(later, earlier)
        return wrong

    def row_order(self, lanes: Sequence[Lane]) -> list[Ints]:
        """Lanes of integers that sort the rows of a value."""
        return [sort_lane(lanes[self.dates + i], type_, self._pool) for i, type_ in self._rest]

    def identities(self, lanes: Sequence[Lane]) -> list[Ints]:
        """Lanes of integers that are equal iff two tuples of a value have equal dates and rows."""
        return [*lanes[: self.dates], *(identity(lanes[self.dates + i]) for i, _ in self._rest)]

    def precedes(self, left: Sequence[Lane], right: Sequence[Lane]) -> Flags:
        """Where left tuples come strictly before right ones of the same value; rows are compared if dates are equal."""
        before = precedes(left[: self.dates], right[: self.dates])
        if self._rest:
            tied = np.flatnonzero(np.logical_and.reduce([left[i] == right[i] for i in range(self.dates)]))
            if len(tied):
                both = [np.concatenate([a[tied], b[tied]]) for a, b in zip(left, right, strict=True)]
                order = self.row_order(both)
                before[tied] = precedes([lane[: len(tied)] for lane in order], [lane[len(tied) :] for lane in order])
        return before

    def stored(self, clock: Instant) -> int:
        """The number of stored tuples and pending ends."""
        return self.queues.alive(self.expired_by(clock)) + len(self._ends)
