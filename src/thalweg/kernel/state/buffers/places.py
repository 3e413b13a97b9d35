"""Tuples by place: the columns of a tuple from its arrival until it leaves, so that results need only name its place.

Operators identify tuples by numbers that ascend with their arrival and grow without bound; there are about as many
places as alive tuples. Free places are reused in the order in which they became free, so that tuples that arrive
together lie together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import FOREVER
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.tuning import DEFAULT, Tuning

_FREE = -1  # in place of a number


class PlacedTuples(Stateful, kind="places/1"):
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

    def __init__(self, dtypes: Sequence[type[Any]], tuning: Tuning = DEFAULT) -> None:
        self._reserved = tuning.reserved_places
        self.leaves_at: Ints = np.empty(0, dtype=np.int64)  # by place: when its tuple leaves, FOREVER if unknown
        self._lanes: list[Lane] = [np.empty(0, dtype=dtype) for dtype in dtypes]
        self._numbers: Ints = np.empty(0, dtype=np.int64)  # by place: the number of its tuple
        self._free: list[Ints] = []  # runs of free places, the first to be reused first
        self._allocated = 0  # places from here on have never been used
        self._known_numbers: Ints = np.empty(0, dtype=np.int64)  # ascending; some of their tuples have left
        self._known_places: Ints = np.empty(0, dtype=np.int64)  # the places of the known numbers
        self._known_count = 0  # how many of `_known_numbers` are in use
        self._occupied_count = 0  # tuples

    def __len__(self) -> int:
        return self._occupied_count

    def settle(self, numbers: Ints, lanes: Sequence[Lane]) -> Ints:
        """Store tuples with ascending numbers, all greater than those before, and return their places."""
        places = self._allocate(len(numbers))
        self._numbers[places] = numbers
        self.leaves_at[places] = FOREVER
        for own, lane in zip(self._lanes, lanes, strict=True):
            own[places] = lane
        self._remember(numbers, places)
        return places

    def find(self, numbers: Ints) -> tuple[Ints, Flags]:
        """The places of tuples by number, and which of the tuples are stored."""
        if not self._known_count:
            return np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self._known_numbers[: self._known_count], numbers), self._known_count - 1)
        places = self._known_places[at]
        return places, self._numbers[places] == numbers

    def read(self, places: Ints) -> list[Lane]:
        """All lanes of the tuples at some places."""
        return [lane[places] for lane in self._lanes]

    def lane(self, i: int) -> Lane:
        """One lane by place."""
        return self._lanes[i]

    def occupied(self) -> Ints:
        """The places of all tuples."""
        return np.flatnonzero(self._numbers != _FREE)

    def vacate(self, places: Ints) -> None:
        """Free the places of tuples that have left."""
        if len(places):
            self._numbers[places] = _FREE
            self._free.append(places)
            self._occupied_count -= len(places)

    def _allocate(self, count: int) -> Ints:
        places: list[Ints] = []
        self._occupied_count += count
        while count and self._free:
            first = self._free.pop(0)
            if len(first) > count:
                self._free.insert(0, first[count:])
            places.append(first[:count])
            count -= len(places[-1])
        places.append(np.arange(self._allocated, self._allocated + count))
        self._allocated += count
        self._reach(self._allocated)
        return np.concatenate(places)

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
            room = max(self._reserved, 2 * (self._known_count + len(numbers)))
            self._known_numbers, self._known_places = (
                _longer(lane[alive], room - self._known_count) for lane in (self._known_numbers, self._known_places)
            )
        end = self._known_count + len(numbers)
        self._known_numbers[self._known_count : end], self._known_places[self._known_count : end] = numbers, places
        self._known_count = end


def _longer(lane: Lane, more: int) -> Lane:
    return np.append(lane, np.zeros(more, dtype=lane.dtype))
