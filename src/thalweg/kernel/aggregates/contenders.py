"""The state of MIN and MAX: the values that may be the best of their group now or later."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch, Signs
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.group_sweep import GroupSweep
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.aggregates.progressive import Progressive
from thalweg.kernel.aggregates.ranking import Ranking
from thalweg.kernel.aggregates.staircase import Staircase
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.sweep.segments import long_runs


@dataclass(frozen=True)
class ValueIntervals:
    """Values of groups that start or end in a batch: [start, end) if it `begins`, otherwise [before the batch, end)."""

    code: Ints
    start: Ints
    end: Ints
    raw: Ints
    begins: Flags


class Contenders(Stateful, ABC):
    """The values that MIN and MAX keep. Each batch calls `advance`, `lasting` and `admit`, in this order."""

    @abstractmethod
    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> ValueIntervals:
        """Take tuples; return all values that start or end in this batch. All other values are `lasting`."""

    @abstractmethod
    def lasting(self, codes: Ints) -> Ints:
        """The best raw of each group among the values that are present throughout the batch."""

    @abstractmethod
    def admit(self) -> None:
        """Store the values that started in this batch and have not ended."""

    @property
    @abstractmethod
    def stored(self) -> int:
        """The number of stored values."""


class KnownEnds(Contenders, kind="extrema-known-ends/1"):
    """For inputs without negative tuples: a staircase, which drops a value that a better one outlives."""

    KEPT = ("_stairs",)

    def __init__(self, order: Order) -> None:
        self._stairs = Staircase(order)
        self._order = order
        self._new: tuple[Ints, Ints, Ints] | None = None

    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> ValueIntervals:
        """New values start, and stairs end at their known ends."""
        code, start, end, raw = self._best_of_equal_lifetimes(code, start, end, raw)
        old_code, old_end, old_raw = self._stairs.expire(now)
        lasts = np.flatnonzero(end > now)
        self._new = (code[lasts], end[lasts], raw[lasts])
        return ValueIntervals(
            np.concatenate([code, old_code]),
            np.concatenate([start, old_end]),
            np.concatenate([end, old_end]),
            np.concatenate([raw, old_raw]),
            np.arange(len(code) + len(old_code)) < len(code),
        )

    def _best_of_equal_lifetimes(self, code: Ints, start: Ints, end: Ints, raw: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Keep only the best of neighbours with equal groups and lifetimes, which the tuples of one slide have."""
        first = long_runs(code, start, end)
        if first is None or self._order.type is DataType.STRING:  # raws of strings cannot be compared
            return code, start, end, raw
        return code[first], start[first], end[first], np.maximum.reduceat(raw, first)

    def lasting(self, codes: Ints) -> Ints:
        """The first stair of each group."""
        return self._stairs.best(codes)

    def admit(self) -> None:
        """Add the new values as stairs."""
        if self._new is not None:
            self._stairs.add(*self._new)

    @property
    def stored(self) -> int:
        """The number of stairs."""
        return len(self._stairs)


class SignedEnds(Contenders, kind="extrema-signed/1"):
    """For inputs with negative tuples: all values that are present, because each of them may become the best."""

    KEPT = ("_values", "_presence", "_ranking")

    def __init__(self, order: Order) -> None:
        self._values = KeyTable((DataType.BIGINT, DataType.BIGINT))
        self._presence = GroupSweep([Progressive([])])
        self._ranking = Ranking(order)
        self._new: tuple[Ints, Ints, Ints] | None = None

    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> ValueIntervals:
        """The values whose first copy arrives or whose last copy leaves."""
        member = self._values.encode((code, raw), len(code))
        changes = self._presence.change(member, Batch((), start, end, sign), now)
        code, raw = self._values.decode(changes.code)
        begins = changes.sign > 0
        self._ranking.remove(changes.code[~begins])
        lasts = np.flatnonzero(begins & (changes.end == FOREVER))
        self._new = (code[lasts], changes.code[lasts], raw[lasts])
        return ValueIntervals(code, changes.start, np.where(begins, changes.end, changes.start), raw, begins)

    def lasting(self, codes: Ints) -> Ints:
        """The best of the values that are present throughout the batch."""
        return self._ranking.best(codes)

    def admit(self) -> None:
        """Add the new values to the ranking; release the codes of values that are nowhere stored."""
        if self._new is not None:
            self._ranking.add(*self._new)
        unlisted = self._ranking.unlisted()
        absent = np.concatenate([self._presence.vanished, unlisted[self._presence.is_idle(unlisted)]])
        self._values.release(absent[~self._ranking.holds(absent)])

    @property
    def stored(self) -> int:
        """The values that are present, and pending ends."""
        return self._presence.stored
