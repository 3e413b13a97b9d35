"""Tuples by place: what a tuple holds from when it comes until it leaves, so that results need only name it.

Outside, tuples are known by numbers that ascend with their arrival. Numbers grow without end; places are about as many
as tuples. A place that falls free is given again, first the one that fell free first, so that tuples that come together
stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import FOREVER
from thalweg.kernel.state.snapshot import Stateful

_FREE = -1
_FEW = 1024


class Places(Stateful, kind="places/1"):
    """Rows of lanes by place."""

    KEPT = ("leaving", "_lanes", "_number", "_free", "_used", "_known", "_place", "_told", "_taken")

    def __init__(self, dtypes: Sequence[type[Any]]) -> None:
        self.leaving: Ints = np.empty(0, dtype=np.int64)  # by place: when its tuple leaves, FOREVER if not known
        self._lanes: list[Lane] = [np.empty(0, dtype=dtype) for dtype in dtypes]
        self._number: Ints = np.empty(0, dtype=np.int64)  # by place: whose it is
        self._free: list[Ints] = []
        self._used = 0  # places from here on have never been given
        self._known: Ints = np.empty(0, dtype=np.int64)  # ascending numbers, of tuples that have left too
        self._place: Ints = np.empty(0, dtype=np.int64)  # by known number
        self._told = 0  # how many of `_known` are filled
        self._taken = 0

    def __len__(self) -> int:
        return self._taken

    def settle(self, numbers: Ints, lanes: Sequence[Lane]) -> Ints:
        """Places for tuples with ascending numbers, all above those known."""
        places = self._give(len(numbers))
        self._number[places] = numbers
        self.leaving[places] = FOREVER
        for own, lane in zip(self._lanes, lanes, strict=True):
            own[places] = lane
        self._remember(numbers, places)
        return places

    def find(self, numbers: Ints) -> tuple[Ints, Flags]:
        """The places of tuples, and whether they have one."""
        if not self._told:
            return np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self._known[: self._told], numbers), self._told - 1)
        places = self._place[at]
        return places, self._number[places] == numbers

    def read(self, places: Ints) -> list[Lane]:
        """The lanes of tuples."""
        return [lane[places] for lane in self._lanes]

    def lane(self, i: int) -> Lane:
        """One lane by place."""
        return self._lanes[i]

    def vacate(self, places: Ints) -> None:
        """The tuples there have left."""
        if len(places):
            self._number[places] = _FREE
            self._free.append(places)
            self._taken -= len(places)

    def _give(self, count: int) -> Ints:
        given: list[Ints] = []
        self._taken += count
        while count and self._free:
            first = self._free.pop(0)
            if len(first) > count:
                self._free.insert(0, first[count:])
            given.append(first[:count])
            count -= len(given[-1])
        given.append(np.arange(self._used, self._used + count))
        self._used += count
        self._reach(self._used)
        return np.concatenate(given)

    def _reach(self, places: int) -> None:
        if places > len(self._number):
            more = max(places, 2 * len(self._number)) - len(self._number)
            self._lanes = [_longer(lane, more) for lane in self._lanes]
            self._number = np.append(self._number, np.full(more, _FREE))
            self.leaving = np.append(self.leaving, np.full(more, FOREVER))

    def _remember(self, numbers: Ints, places: Ints) -> None:
        if self._told + len(numbers) > len(self._known):
            alive = np.flatnonzero(self._number[self._place[: self._told]] == self._known[: self._told])
            self._told = len(alive)
            room = max(_FEW, 2 * (self._told + len(numbers)))
            self._known, self._place = (_longer(lane[alive], room - self._told) for lane in (self._known, self._place))
        end = self._told + len(numbers)
        self._known[self._told : end], self._place[self._told : end] = numbers, places
        self._told = end


def _longer(lane: Lane, more: int) -> Lane:
    return np.append(lane, np.zeros(more, dtype=lane.dtype))
