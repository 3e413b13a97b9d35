"""The heads of the groups of a sorted run: rows before a group's head have left."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.kernel.state.indexes import CodeIndex
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.sweep.segments import run_starts


class Heads(Stateful, kind="heads/1"):
    """The head of each group in a run sorted by group code; snapshots do not contain the run."""

    ADDED = ("heads",)

    def __init__(self, code: Ints) -> None:
        self._first = np.flatnonzero(run_starts(code))
        self._index = CodeIndex(code)
        self._head = np.arange(len(code))  # the head of a group, at the position of the group's first row

    def snapshot(self) -> Tree:
        """The head of each group."""
        return super().snapshot() | {"heads": self._head[self._first]}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot of the heads of the same run."""
        self._head[self._first] = tree["heads"]

    def advance(self, codes: Ints) -> None:
        """Move the heads of groups on by one row for each time that a code is given."""
        np.add.at(self._head, self._index.find(codes)[0], 1)

    def find(self, codes: Ints) -> tuple[Ints, Ints]:
        """Which of the groups have rows left, and the positions of their heads."""
        first, stop = self.slices(codes)
        hit = np.flatnonzero(first < stop)
        return hit, first[hit]

    def slices(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each group the slice of rows from its head on; empty if the group has none."""
        first, count = self._index.find(codes)
        first = np.where(count > 0, first, 0)
        return np.where(count > 0, self._head[first], 0), first + count

    def move(self, codes: Ints, heads: Ints) -> None:
        """Set the heads of groups that are in the run."""
        self._head[self._index.find(codes)[0]] = heads

    def ahead(self) -> Flags:
        """Which rows are at or after the heads of their groups."""
        places = np.arange(len(self._head))
        return places >= np.repeat(self._head[self._first], np.diff(np.append(self._first, len(places))))
