"""MIN and MAX, retrospective aggregates (PatroumpasSellis2011 §4.2): when the best leaves, another replaces it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import NULL, Ints, Lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.contenders import Contenders, KnownEnds, SignedEnds, Spells
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.sweep.maxima import cover
from thalweg.kernel.sweep.steps import Instants, Steps


@dataclass(frozen=True)
class ColumnOf:
    """A column of a batch."""

    column: int

    def __call__(self, batch: Batch) -> Lane:
        """The lane."""
        return batch.columns[self.column]


class Extremum(Accumulator, kind="extremum/1"):
    """The best value of each group, NULL where a group has none."""

    KEPT = ("_contenders",)

    def __init__(self, order: Order, lane: Callable[[Batch], Lane], known_ends: bool) -> None:
        self._order = order
        self._lane = lane
        self._contenders: Contenders = KnownEnds(order) if known_ends else SignedEnds(order)
        self._spells: Spells | None = None
        self._now: Instant = BEGINNING

    @property
    def stored(self) -> int:
        """The contenders kept."""
        return self._contenders.stored

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """The beginnings and ends of the values' spells."""
        raw = self._order.raw(self._lane(batch))
        lanes = (code, batch.start, batch.end, batch.sign, raw)
        known = raw != NULL
        if not known.all():
            lanes = tuple(lane[known] for lane in lanes)
        spells = self._contenders.advance(*lanes, now)
        self._spells, self._now = spells, now
        ends = spells.end <= now
        return (
            np.concatenate([spells.code[spells.begins], spells.code[ends]]),
            np.concatenate([spells.start[spells.begins], spells.end[ends]]),
        )

    def values(self, steps: Steps, places: Ints) -> list[Lane]:
        """The greatest of what lasts and of the spells that cover a step."""
        spells = self._spells
        assert spells is not None
        ends = spells.end <= self._now
        count = int(spells.begins.sum())
        start, stop = np.empty_like(spells.code), np.empty_like(spells.code)
        start[spells.begins], stop[ends] = places[:count], places[count:]
        start[~spells.begins] = steps.first[steps.group[stop[~spells.begins]]]
        stop[~ends] = steps.stop[steps.group[start[~ends]]]
        lasting = self._contenders.lasting(steps.groups)
        scale = self._order.scale(np.concatenate([spells.raw, lasting]))
        best = cover(len(steps), start, stop, scale.keys(spells.raw))
        best = np.maximum(best, steps.spread(scale.keys(lasting)))
        self._contenders.admit()
        return [self._order.lane(scale.raws(best))]


def ts_of(batch: Batch) -> Lane:
    """When the tuples were generated."""
    assert batch.dates is not None
    return batch.dates.ts


def exp_of(batch: Batch) -> Lane:
    """When time will end the tuples."""
    assert batch.dates is not None
    return batch.dates.exp
