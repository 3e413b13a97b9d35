"""The queue per partition: for each key the last rows that came, in flat lanes addressed by key and rank.

Rank r of key k (the r-th row that ever came for it) lies at block[k] + r % room[k]. A queue that outgrows its room
moves to a larger one behind all others; when the lanes are full they are laid out anew, without the rows that have
ended. So reading and writing touch only the rows in question, and a row moves a bounded number of times on average.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import Instant
from thalweg.operators.segments import slices_to_rows

_LEAST = 64


class Queues:
    """For each key at most `limit` rows; the first lane says when a row ends, never earlier than the row before."""

    def __init__(self, dtypes: Sequence[npt.DTypeLike], limit: int) -> None:
        self._limit = limit
        self._lanes: list[Lane] = [np.empty(0, dtype=d) for d in dtypes]
        self._used = 0
        # By key: how many rows ever came, the first rank not given up, and where the queue lies.
        self._came = self._first = self._block = self._room = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return int(self._held().sum())

    def reach(self, keys: int) -> None:
        """Make room for all codes below `keys`."""
        if keys > len(self._came):
            more = np.zeros(max(keys, 2 * len(self._came), _LEAST) - len(self._came), dtype=np.int64)
            self._came, self._first, self._block, self._room = (
                np.append(lane, more) for lane in (self._came, self._first, self._block, self._room)
            )

    def came(self, keys: Ints) -> Ints:
        """How many rows each key has had: the rank of its next one."""
        return self._came[keys]

    def holds(self, keys: Ints, ranks: Ints) -> Flags:
        """Whether these ranks, which must be among the last `limit` of their keys, are still there."""
        return ranks >= self._first[keys]

    def read(self, keys: Ints, ranks: Ints) -> list[Lane]:
        """The rows at these ranks."""
        slots = self._slots(keys, ranks)
        return [lane[slots] for lane in self._lanes]

    def append(self, keys: Ints, added: Ints, row_keys: Ints, ranks: Ints, rows: Sequence[Lane], now: Instant) -> None:
        """`added` rows come for each of `keys`, which are distinct; given are those that remain among the last."""
        need = np.minimum(self._held(keys) + added, self._limit)
        if (need > self._room[keys]).any():
            self._enlarge(keys, need, now)
        self._came[keys] += added
        slots = self._slots(row_keys, ranks)
        for lane, new in zip(self._lanes, rows, strict=True):
            lane[slots] = new

    def _slots(self, keys: Ints, ranks: Ints) -> Ints:
        return self._block[keys] + ranks % self._room[keys]

    def _held(self, keys: Ints | slice = slice(None)) -> Ints:
        held: Ints = np.minimum(self._came[keys] - self._first[keys], self._limit)
        return held

    def _enlarge(self, keys: Ints, need: Ints, now: Instant) -> None:
        room = np.minimum(2 * need, self._limit)
        short = need > self._room[keys]
        if self._used + int(room[short].sum()) <= len(self._lanes[0]):
            self._move(keys[short], room[short], self._lanes, self._used)
            return
        self._give_up_ended(now)
        rooms = np.minimum(2 * self._held(), self._limit)
        rooms[keys] = room  # not only the short ones: all of these are about to be written
        size = 2 * int(rooms.sum()) + _LEAST
        self._move(np.arange(len(rooms)), rooms, [np.empty(size, dtype=lane.dtype) for lane in self._lanes], 0)

    def _move(self, keys: Ints, room: Ints, lanes: list[Lane], base: int) -> None:
        """Lay these queues out in `lanes` from `base` on."""
        row_keys, ranks = self._rows(keys)
        rows = self.read(row_keys, ranks)
        self._room[keys] = room
        self._block[keys] = base + np.cumsum(room) - room
        self._used = base + int(room.sum())
        self._lanes = lanes
        slots = self._slots(row_keys, ranks)
        for lane, moved in zip(lanes, rows, strict=True):
            lane[slots] = moved

    def _give_up_ended(self, now: Instant) -> None:
        """Rows end in order within a queue, so those that remain are its last."""
        row_keys, ranks = self._rows(np.arange(len(self._came)))
        alive = row_keys[self._lanes[0][self._slots(row_keys, ranks)] > now]
        self._first = self._came - np.bincount(alive, minlength=len(self._came))

    def _rows(self, keys: Ints) -> tuple[Ints, Ints]:
        """Key and rank of all rows of some queues."""
        held = self._held(keys)
        return np.repeat(keys, held), slices_to_rows(self._came[keys] - held, held)
