"""Tuples as events: a tuple adds its weight at its start and takes it back at its end. Later ends wait until due."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch, Dates, Signs
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.runs import join_runs
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.state.timeline import Timeline


class TupleEvents(Stateful, kind="events/1"):
    """Turns tuples into events. State: the lanes of tuples whose known ends are not due."""

    KEPT = ("_pending",)

    def __init__(self) -> None:
        self._pending = Timeline()

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def pending(self) -> Timeline:
        """The ends that are not due: times, weights, and the tuples' lanes."""
        return self._pending

    def of(
        self,
        start: Ints,
        end: Ints,
        sign: Signs,
        lanes: tuple[Lane, ...],
        now: Instant,
        until: Ints | Instant = FOREVER,
    ) -> tuple[Lane, ...]:
        """The events up to `now`: times, weights, and the tuples' lanes. An end at or after `until` is no event."""
        weight = sign.astype(np.int64)
        ending = np.flatnonzero(end < until)
        self._pending.add(end[ending], -weight[ending], *(lane[ending] for lane in lanes))
        due = self._pending.due(now)
        starts = (start, weight, *lanes)
        return starts if due is None else join_runs([starts, due])


class GroupEvents(Stateful, kind="ends/1"):
    """Turns tuples of groups into events, and knows for which groups ends are pending.

    State: the lanes of tuples whose known ends are not due, and their number by group code.
    """

    KEPT = ("_pending", "_pending_counts")

    def __init__(self) -> None:
        self._pending = Timeline()
        self._pending_counts = ByCode(np.int64, 0)

    def __len__(self) -> int:
        return len(self._pending)

    def is_idle(self, codes: Ints) -> Flags:
        """Which groups have no pending ends."""
        self._pending_counts.fit(int(codes.max(initial=0)) + 1)
        return np.equal(self._pending_counts.values[codes], 0)

    def of(self, start: Ints, end: Ints, weight: Ints, lanes: tuple[Lane, ...], now: Instant) -> tuple[Lane, ...]:
        """The events up to `now`: times, weights, and the tuples' lanes, of which the first is the group code."""
        soon = np.flatnonzero(end <= now)
        later = np.flatnonzero((end > now) & (end < FOREVER))
        due = self.due(now)
        self.hold(end[later], -weight[later], tuple(lane[later] for lane in lanes))
        parts = [(start, weight, *lanes)]
        if len(soon):
            parts.append((end[soon], -weight[soon], *(lane[soon] for lane in lanes)))
        if due is not None:
            parts.append(due)
        return parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))

    def hold(self, time: Ints, weight: Ints, lanes: tuple[Lane, ...]) -> None:
        """Let events wait until their time comes; the first lane is the group code."""
        self._pending.add(time, weight, *lanes)
        if len(lanes[0]):
            self._pending_counts.fit(int(lanes[0].max()) + 1)
            np.add.at(self._pending_counts.values, lanes[0], 1)

    def due(self, now: Instant) -> tuple[Lane, ...] | None:
        """Take out the events up to `now`: times, weights, and lanes; None if there are none."""
        due = self._pending.due(now)
        if due is not None:
            np.subtract.at(self._pending_counts.values, due[2], 1)
        return due


def stream_tuples(columns: Sequence[Lane], time: Ints, sign: Signs, dated: bool) -> Batch:
    """The tuples of a derived stream: they start at `time`, which is also their ts, and never end."""
    forever = np.full(len(time), FOREVER)
    return Batch(tuple(columns), time, forever, sign, Dates(time, forever) if dated else None)
