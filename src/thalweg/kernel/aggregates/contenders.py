"""The values that may be the best of their group now or later, and when they come and go."""

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
class Spells:
    """Values of groups that come or go in a batch: until `end`, from `start` on if it `begins` or else from before."""

    code: Ints
    start: Ints
    end: Ints
    raw: Ints
    begins: Flags


class Contenders(Stateful, ABC):
    """What MIN and MAX keep. Called in turn with every batch: `advance`, `lasting`, `admit`."""

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


class KnownEnds(Contenders, kind="extrema-known-ends/1"):
    """For inputs without negative tuples: the staircase, where a value that a better one outlives is forgotten."""

    KEPT = ("_stairs",)

    def __init__(self, order: Order) -> None:
        self._stairs = Staircase(order)
        self._order = order
        self._new: tuple[Ints, Ints, Ints] | None = None

    def advance(self, code: Ints, start: Ints, end: Ints, sign: Signs, raw: Ints, now: Instant) -> Spells:
        """New tuples begin; stairs whose time has come end."""
        code, start, end, raw = self._best_of_alike(code, start, end, raw)
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

    def _best_of_alike(self, code: Ints, start: Ints, end: Ints, raw: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Of tuples side by side that come and go together, as those of one slide do, only the best is ever shown."""
        first = long_runs(code, start, end)
        if first is None or self._order.type is DataType.STRING:  # whose raws do not compare
            return code, start, end, raw
        return code[first], start[first], end[first], np.maximum.reduceat(raw, first)

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


class SignedEnds(Contenders, kind="extrema-signed/1"):
    """For inputs with negative tuples: every value that is present, as any of them may become the best."""

    KEPT = ("_values", "_presence", "_ranking")

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
