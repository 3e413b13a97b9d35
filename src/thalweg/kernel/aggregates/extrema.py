"""MIN and MAX: retrospective aggregates (PatroumpasSellis2011 §4.2), as another value replaces a best that leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import NULL, Ints, Lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.contenders import Contenders, KnownEnds, SignedEnds, ValueIntervals
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.sweep.maxima import cover
from thalweg.kernel.sweep.steps import GroupSteps, Instants


@dataclass(frozen=True)
class ColumnOf:
    """A column of a batch."""

    column: int

    def __call__(self, batch: Batch) -> Lane:
        """The lane."""
        return batch.columns[self.column]


class Extremum(Accumulator, kind="extremum/1"):
    """The best value of each group; NULL if the group has no value."""

    KEPT = ("_contenders",)

    def __init__(self, order: Order, lane: Callable[[Batch], Lane], known_ends: bool) -> None:
        self._order = order
        self._lane = lane
        self._contenders: Contenders = KnownEnds(order) if known_ends else SignedEnds(order)
        self._changed: ValueIntervals | None = None
        self._now: Instant = BEGINNING

    @property
    def stored(self) -> int:
        """The number of stored values."""
        return self._contenders.stored

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """The starts and ends of values."""
        raw = self._order.raw(self._lane(batch))
        lanes = (code, batch.start, batch.end, batch.sign, raw)
        known = raw != NULL
        if not known.all():
            lanes = tuple(lane[known] for lane in lanes)
        changed = self._contenders.advance(*lanes, now)
        self._changed, self._now = changed, now
        ends = changed.end <= now
        return (
            np.concatenate([changed.code[changed.begins], changed.code[ends]]),
            np.concatenate([changed.start[changed.begins], changed.end[ends]]),
        )

    def values(self, steps: GroupSteps, places: Ints) -> list[Lane]:
        """The greatest of the lasting value and of the values whose intervals contain a step."""
        changed = self._changed
        assert changed is not None
        ends = changed.end <= self._now
        count = int(changed.begins.sum())
        start, stop = np.empty_like(changed.code), np.empty_like(changed.code)
        start[changed.begins], stop[ends] = places[:count], places[count:]
        start[~changed.begins] = steps.first[steps.group[stop[~changed.begins]]]
        stop[~ends] = steps.stop[steps.group[start[~ends]]]
        lasting = self._contenders.lasting(steps.groups)
        scale = self._order.scale(np.concatenate([changed.raw, lasting]))
        best = cover(len(steps), start, stop, scale.keys(changed.raw))
        best = np.maximum(best, steps.spread(scale.keys(lasting)))
        self._contenders.admit()
        return [self._order.lane(scale.raws(best))]


def ts_of(batch: Batch) -> Lane:
    """The ts of the tuples."""
    assert batch.dates is not None
    return batch.dates.ts


def exp_of(batch: Batch) -> Lane:
    """The exp of the tuples."""
    assert batch.dates is not None
    return batch.dates.exp
