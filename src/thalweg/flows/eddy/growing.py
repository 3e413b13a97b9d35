"""Arrays that grow at the end and shrink at the front; slices that were returned never change."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Lane
from thalweg.kernel.state.snapshot import Stateful, Tree

_FEW = 256


class Growing(Stateful, kind="growing-array/1"):
    """Rows of one or several numbers. Capacity is doubled when it is used up, so a row is copied a few times."""

    KEPT = ("_room",)

    def __init__(self, like: Lane) -> None:
        """An empty array for rows like those of `like`."""
        self._room: Lane = like[:0].copy()
        self._first = self._last = 0

    def __len__(self) -> int:
        return self._last - self._first

    @property
    def rows(self) -> Lane:
        """All rows, the oldest first."""
        return self._room[self._first : self._last]

    def append(self, rows: Lane) -> None:
        """Append rows."""
        needed = self._last + len(rows)
        if needed > len(self._room):
            room = np.empty((max(_FEW, 2 * (len(self) + len(rows))), *self._room.shape[1:]), dtype=self._room.dtype)
            room[: len(self)] = self.rows
            self._room, self._first, self._last = room, 0, len(self)
        self._room[self._last : self._last + len(rows)] = rows
        self._last += len(rows)

    def replace(self, rows: Lane) -> None:
        """Replace all rows."""
        self._room, self._first, self._last = rows, 0, len(rows)

    def forget(self, count: int) -> None:
        """Drop the oldest rows."""
        self._first += count

    def snapshot(self) -> Tree:
        """The rows, without spare capacity."""
        self.replace(self.rows.copy())
        return super().snapshot()

    def restore(self, tree: Tree) -> None:
        """Go back to the rows of a snapshot."""
        self._room = np.empty(0)
        super().restore(tree)
        self._first, self._last = 0, len(self._room)
