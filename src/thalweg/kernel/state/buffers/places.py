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

    KEPT = (
        "leaves_at",
        "_lanes",
        "_numbers",
        "_free",
        "_allocated",
        "_known_numbers",
        "_known_places",
        "_known_count",
        "_occupied_count",
    )

    def __init__(self, dtypes: Sequence[type[Any]]) -> None:
        self.leaves_at: Ints = np.empty(0, dtype=np.int64)  # by place: when its tuple leaves, FOREVER if not known
        self._lanes: list[Lane] = [np.empty(0, dtype=dtype) for dtype in dtypes]
        self._numbers: Ints = np.empty(0, dtype=np.int64)  # by place: whose it is
        self._free: list[Ints] = []
        self._allocated = 0  # places from here on have never been given
        self._known_numbers: Ints = np.empty(0, dtype=np.int64)  # ascending numbers, of tuples that have left too
        self._known_places: Ints = np.empty(0, dtype=np.int64)  # by known number
        self._known_count = 0  # how many of `_known_numbers` are filled
        self._occupied_count = 0

    def __len__(self) -> int:
        return self._occupied_count

    def settle(self, numbers: Ints, lanes: Sequence[Lane]) -> Ints:
        """Places for tuples with ascending numbers, all above those known."""
        places = self._give(len(numbers))
        self._numbers[places] = numbers
        self.leaves_at[places] = FOREVER
        for own, lane in zip(self._lanes, lanes, strict=True):
            own[places] = lane
        self._remember(numbers, places)
        return places

    def find(self, numbers: Ints) -> tuple[Ints, Flags]:
        """The places of tuples, and whether they have one."""
        if not self._known_count:
            return np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self._known_numbers[: self._known_count], numbers), self._known_count - 1)
        places = self._known_places[at]
        return places, self._numbers[places] == numbers

    def read(self, places: Ints) -> list[Lane]:
        """The lanes of tuples."""
        return [lane[places] for lane in self._lanes]

    def lane(self, i: int) -> Lane:
        """One lane by place."""
        return self._lanes[i]

    def vacate(self, places: Ints) -> None:
        """The tuples there have left."""
        if len(places):
            self._numbers[places] = _FREE
            self._free.append(places)
            self._occupied_count -= len(places)

    def _give(self, count: int) -> Ints:
        given: list[Ints] = []
        self._occupied_count += count
        while count and self._free:
            first = self._free.pop(0)
            if len(first) > count:
                self._free.insert(0, first[count:])
            given.append(first[:count])
            count -= len(given[-1])
        given.append(np.arange(self._allocated, self._allocated + count))
        self._allocated += count
        self._reach(self._allocated)
        return np.concatenate(given)

    def _reach(self, places: int) -> None:
        if places > len(self._numbers):
            more = max(places, 2 * len(self._numbers)) - len(self._numbers)
            self._lanes = [_longer(lane, more) for lane in self._lanes]
            self._numbers = np.append(self._numbers, np.full(more, _FREE))
            self.leaves_at = np.append(self.leaves_at, np.full(more, FOREVER))

    def _remember(self, numbers: Ints, places: Ints) -> None:
        if self._known_count + len(numbers) > len(self._known_numbers):
            alive = np.flatnonzero(
                self._numbers[self._known_places[: self._known_count]] == self._known_numbers[: self._known_count]
            )
            self._known_count = len(alive)
            room = max(_FEW, 2 * (self._known_count + len(numbers)))
            self._known_numbers, self._known_places = (
                _longer(lane[alive], room - self._known_count) for lane in (self._known_numbers, self._known_places)
            )
        end = self._known_count + len(numbers)
        self._known_numbers[self._known_count : end], self._known_places[self._known_count : end] = numbers, places
        self._known_count = end


def _longer(lane: Lane, more: int) -> Lane:
    return np.append(lane, np.zeros(more, dtype=lane.dtype))
