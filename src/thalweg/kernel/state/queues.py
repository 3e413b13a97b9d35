"""Many FIFO queues in shared lanes, one for each dense code: the lists of GolabOzsu2005 §5.3.1.

The rows of a code are numbered 1, 2 ... and lie in the code's ring of slots. So a row is found by arithmetic, an append
moves no row, and a row that leaves at the front frees its slot. A ring that is too small moves to a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import Stateful

_LEAST_SLOTS = 4


class Queues(Stateful, kind="queues/1"):
    """Rows of lanes by code and number. The first lane is the end of a row; the rows of a code end in order."""

    KEPT = ("first", "last", "_lanes", "_base", "_mask", "_used")

    def __init__(self, dtypes: Sequence[type[Any]]) -> None:
        self.first = np.zeros(0, dtype=np.int64)  # by code: the rows up to this number have left
        self.last = np.zeros(0, dtype=np.int64)  # by code: the number of the newest row
        self._lanes: list[Lane] = [np.empty(0, dtype=dtype) for dtype in dtypes]
        self._base = np.zeros(0, dtype=np.int64)  # by code: the first slot of its ring
        self._mask = np.zeros(0, dtype=np.int64)  # by code: the slots of its ring - 1; -1 without a ring
        self._used = 0  # slots that rings have

    def reach(self, codes: int) -> None:
        """Make room for all codes below `codes`."""
        if codes > len(self.last):
            more = max(codes, 2 * len(self.last)) - len(self.last)
            self.first, self.last, self._base = (np.pad(a, (0, more)) for a in (self.first, self.last, self._base))
            self._mask = np.pad(self._mask, (0, more), constant_values=-1)

    def clear(self, codes: int) -> None:
        """Write zeros over rows that have left: they must not look as if they named strings.

        Give room back, if there is far more than codes below `codes` need; the others must have no rows.
        """
        inhabited = np.flatnonzero(self.first < self.last)
        held = (self.last - self.first)[inhabited]
        numbers = np.arange(int(held.sum())) + np.repeat(self.first[inhabited] + 1 - (np.cumsum(held) - held), held)
        vacant = np.ones(len(self._lanes[0]), dtype=np.bool_)
        vacant[self.slots(np.repeat(inhabited, held), numbers)] = False
        for lane in self._lanes:
            lane[vacant] = 0
        if len(self.last) > 4 * max(codes, _LEAST_SLOTS):
            kept = slice(2 * max(codes, _LEAST_SLOTS))
            self.first, self.last = self.first[kept].copy(), self.last[kept].copy()
            self._base, self._mask = self._base[kept].copy(), self._mask[kept].copy()

    def slots(self, codes: Ints, numbers: Ints) -> Ints:
        """The slots of rows."""
        slots: Ints = self._base[codes] + (numbers & self._mask[codes])
        return slots

    def read(self, slots: Ints, lanes: slice = slice(None)) -> list[Lane]:
        """Some lanes of the rows in these slots."""
        return [lane[slots] for lane in self._lanes[lanes]]

    def append(self, codes: Ints, ranks: Ints, lanes: Sequence[Lane], clock: Instant) -> None:
        """Append rows; those of a code stand together, with ranks 0, 1, 2 ... Rows that ended by `clock` may leave."""
        if not len(codes):
            return
        ends = np.append(codes[1:] != codes[:-1], True)
        touched, counts = codes[ends], ranks[ends] + 1
        self._make_room(touched, counts, clock)
        slots = self.slots(codes, self.last[codes] + 1 + ranks)
        for own, lane in zip(self._lanes, lanes, strict=True):
            own[slots] = lane
        self.last[touched] += counts

    def retract(self, codes: Ints) -> None:
        """Remove the newest row of each given code; a code that is given twice loses two rows."""
        np.subtract.at(self.last, codes, 1)

    def replace(self, codes: Ints, counts: Ints, lanes: Sequence[Lane]) -> None:
        """Replace all rows of some codes by `counts` rows each, given code by code."""
        self.first[codes] = self.last[codes] = 0
        repeated = np.repeat(codes, counts)
        ranks = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.append(repeated, ranks, lanes, 0)

    def drop_ended(self, codes: Ints, clock: Instant) -> None:
        """Remove the rows of some codes that end by `clock`: binary searches in all queues at once."""
        low, high = self.first[codes], self.last[codes]
        while (open_ := low < high).any():
            middle = (low + high + 1) >> 1
            dead = open_ & (self._lanes[0][np.where(open_, self.slots(codes, middle), 0)] <= clock)
            low = np.where(dead, middle, low)
            high = np.where(open_ & ~dead, middle - 1, high)
        self.first[codes] = low

    def alive(self, clock: Instant) -> int:
        """Drop the rows that end by `clock`, and return the number of the other rows."""
        self.drop_ended(np.flatnonzero(self.first < self.last), clock)
        return int((self.last - self.first).sum())

    def _make_room(self, codes: Ints, counts: Ints, clock: Instant) -> None:
        full = self.last[codes] + counts - self.first[codes] > self._mask[codes] + 1
        if not full.any():
            return
        self.drop_ended(codes[full], clock)
        needed = self.last[codes] + counts - self.first[codes]
        tight = full & (4 * needed > 3 * (self._mask[codes] + 1))  # others would be full again soon
        rings = _ring(needed[tight])
        if self._used + int(rings.sum()) <= len(self._lanes[0]):
            self._move(codes[tight], rings, self._lanes, self._used)
            return
        rows = self.last - self.first
        rows[codes] = needed
        rings = np.where(rows > 0, _ring(rows), 0)
        spacious = (rings < self._mask + 1) & (4 * rows > self._mask)  # a queue that shrank may grow again
        rings = np.where(spacious, self._mask + 1, rings)
        # Zeros, not uninitialised memory: snapshots save all slots, and a repeated batch must save the same bytes.
        fresh = [np.zeros(int(rings.sum()) * 3 // 2, dtype=lane.dtype) for lane in self._lanes]
        self._move(np.arange(len(rings)), rings, fresh, 0)

    def _move(self, codes: Ints, rings: Ints, lanes: list[Lane], base: int) -> None:
        """Move the queues of some codes into new rings in `lanes`, from slot `base` on."""
        held = self.last[codes] - self.first[codes]
        numbers = np.arange(int(held.sum())) + np.repeat(self.first[codes] + 1 - (np.cumsum(held) - held), held)
        repeated = np.repeat(codes, held)
        rows = self.read(self.slots(repeated, numbers))
        self._base[codes] = base + np.cumsum(rings) - rings
        self._mask[codes] = rings - 1
        self._used = base + int(rings.sum())
        self._lanes = lanes
        slots = self.slots(repeated, numbers)
        for lane, moved in zip(lanes, rows, strict=True):
            lane[slots] = moved


def _ring(rows: Ints) -> Ints:
    """The slots of rings for so many rows: a power of two that leaves at least a quarter free."""
    wanted = np.maximum(4 * rows // 3 + 1, _LEAST_SLOTS)
    powers: Ints = np.int64(1) << np.ceil(np.log2(wanted)).astype(np.int64)
    return powers
