"""MIN and MAX, the retrospective aggregates (seed 002, section 4.2): when the best leaves, another takes its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch, Signs
from thalweg.core.lanes import NULL, Flags, Ints, Lane
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.operators.aggregates.accumulator import Accumulator
from thalweg.operators.aggregates.order import Order
from thalweg.operators.aggregates.progressive import Progressive
from thalweg.operators.aggregates.ranking import Ranking
from thalweg.operators.aggregates.staircase import Staircase
from thalweg.operators.group_sweep import GroupSweep
from thalweg.operators.maxima import cover
from thalweg.operators.steps import Instants, Steps
from thalweg.state.table import KeyTable


@dataclass(frozen=True)
class Spells:
    """Values of groups that come or go in a batch: until `end`, from `start` on if it `begins` or else from before."""

    code: Ints
    start: Ints
    end: Ints
    raw: Ints
    begins: Flags


class Contenders(ABC):
    """The values of each group that may be the best now or later. Called in turn: `advance`, `lasting`, `admit`."""

    @abstractmethod
    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> Spells:
        """Take in tuples; all values that begin or end in this batch, the others being `lasting`."""

    @abstractmethod
    def lasting(self, codes: Ints) -> Ints:
        """The best raw of each group among the values that are there all through the batch."""

    @abstractmethod
    def admit(self) -> None:
        """What began in this batch and has not ended lasts from now on."""

    @property
    @abstractmethod
    def stored(self) -> int:
        """How many values are kept."""


class KnownEnds(Contenders):
    """For inputs without negative tuples: the staircase, where a value that a better one outlives is forgotten."""

    def __init__(self, order: Order) -> None:
        self._stairs = Staircase(order)
        self._new: tuple[Ints, Ints, Ints] | None = None

    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> Spells:
        """New tuples begin; stairs whose time has come end."""
        old_code, old_end, old_raw = self._stairs.expire(now)
        lasts = np.flatnonzero(end > now)
        self._new = (code[lasts], end[lasts], raw[lasts])
        return Spells(
            np.concatenate([code, old_code]),
            np.concatenate([start, old_end]),
            np.concatenate([end, old_end]),
            np.concatenate([raw, old_raw]),
            np.arange(len(code) + len(old_code)) < len(code),
        )

    def lasting(self, codes: Ints) -> Ints:
        """The first stairs."""
        return self._stairs.best(codes)

    def admit(self) -> None:
        """New stairs."""
        if self._new is not None:
            self._stairs.add(*self._new)

    @property
    def stored(self) -> int:
        """The stairs."""
        return len(self._stairs)


class SignedEnds(Contenders):
    """For inputs with negative tuples: every value that is present, as any of them may become the best."""

    def __init__(self, order: Order) -> None:
        self._values = KeyTable((DataType.BIGINT, DataType.BIGINT))
        self._presence = GroupSweep([Progressive([])])
        self._ranking = Ranking(order)
        self._new: tuple[Ints, Ints, Ints] | None = None

    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> Spells:
        """The values that become present or stop being so."""
        member = self._values.encode((code, raw), len(code))
        changes = self._presence.change(member, Batch((), start, end, sign), now)
        code, raw = self._values.decode(changes.code)
        begins = changes.sign > 0
        self._ranking.remove(changes.code[~begins])
        lasts = np.flatnonzero(begins & (changes.end == FOREVER))
        self._new = (code[lasts], changes.code[lasts], raw[lasts])
        return Spells(code, changes.start, np.where(begins, changes.end, changes.start), raw, begins)

    def lasting(self, codes: Ints) -> Ints:
        """The best of those that stayed."""
        return self._ranking.best(codes)

    def admit(self) -> None:
        """New members; those that are not kept anywhere are forgotten."""
        if self._new is not None:
            self._ranking.add(*self._new)
        unlisted = self._ranking.unlisted()
        gone = np.concatenate([self._presence.vanished, unlisted[self._presence.is_idle(unlisted)]])
        self._values.release(gone[~self._ranking.holds(gone)])

    @property
    def stored(self) -> int:
        """Values that are present, and ends that wait."""
        return self._presence.stored


class Extremum(Accumulator):
    """The best value of each group, NULL where a group has none."""

    def __init__(self, order: Order, lane: Callable[[Batch], Lane], known_ends: bool) -> None:
        self._order = order
        self._lane = lane
        self._contenders: Contenders = KnownEnds(order) if known_ends else SignedEnds(order)
        self._spells: Spells | None = None
        self._now: Instant = 0

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
