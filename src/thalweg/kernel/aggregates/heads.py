"""Where each group of a sorted run begins to count: what is before a group's head is over."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.kernel.state.code_index import CodeIndex
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.sweep.segments import run_starts


class Heads(Stateful, kind="heads/1"):
    """The head of each group in a run sorted by group code; the run is not part of its snapshots."""

    ADDED = ("heads",)

    def __init__(self, code: Ints) -> None:
        self._first = np.flatnonzero(run_starts(code))
        self._index = CodeIndex(code)
        self._head = np.arange(len(code))  # at the place where a group begins

    def snapshot(self) -> Tree:
        """The heads, group by group."""
        return super().snapshot() | {"heads": self._head[self._first]}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot; the run must be that of the snapshot."""
        self._head[self._first] = tree["heads"]

    def advance(self, codes: Ints) -> None:
        """The heads of groups move on, one place each time that a code is given."""
        np.add.at(self._head, self._index.find(codes)[0], 1)

    def find(self, codes: Ints) -> tuple[Ints, Ints]:
        """Which of the groups have something from their heads on, and where their heads are."""
        first, stop = self.slices(codes)
        hit = np.flatnonzero(first < stop)
        return hit, first[hit]

    def slices(self, codes: Ints) -> tuple[Ints, Ints]:
        """What of each group is from its head on; an empty slice where there is nothing."""
        first, count = self._index.find(codes)
        first = np.where(count > 0, first, 0)
        return np.where(count > 0, self._head[first], 0), first + count

    def move(self, codes: Ints, heads: Ints) -> None:
        """New heads for groups that are in the run."""
        self._head[self._index.find(codes)[0]] = heads

    def ahead(self) -> Flags:
        """What is from the heads on."""
        places = np.arange(len(self._head))
        return places >= np.repeat(self._head[self._first], np.diff(np.append(self._first, len(places))))
