"""Immutable runs of join results, with a catalogue for each side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.kernel.state.indexes import CodeIndex
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.state.sorting import stable_order


@immutable("result-run/1")
@dataclass(frozen=True)
class ResultRun:
    """Results sorted by their left orders, which is the left catalogue; `by_right` is the right catalogue.

    `left` and `right` are the orders of the two tuples of each result, `lanes` its further columns.
    """

    left: Ints
    right: Ints
    by_right: Ints  # positions of the results, sorted by their right orders
    lanes: tuple[Lane, ...]

    @staticmethod
    def of(left: Ints, right: Ints, lanes: Sequence[Lane]) -> ResultRun:
        """A run of results, given in any order."""
        order = stable_order(left)
        right = right[order]
        return ResultRun(left[order], right, stable_order(right), tuple(lane[order] for lane in lanes))

    @staticmethod
    def merge(a: ResultRun, b: ResultRun) -> ResultRun:
        """Two runs as one."""
        order = np.argsort(np.concatenate([a.left, b.left]), kind="stable")  # which merges the two sorted halves
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        rights = np.concatenate([a.right[a.by_right], b.right[b.by_right]])
        was = np.concatenate([a.by_right, b.by_right + len(a)])
        lanes = zip((a.left, a.right, *a.lanes), (b.left, b.right, *b.lanes), strict=True)
        left, right, *rest = (np.concatenate(pair)[order] for pair in lanes)
        return ResultRun(left, right, place[was[np.argsort(rights, kind="stable")]], tuple(rest))

    def __len__(self) -> int:
        return len(self.left)

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(lane.nbytes for lane in (self.left, self.right, self.by_right, *self.lanes))

    def where(self, kept: Flags) -> ResultRun:
        """Some of the results; both catalogues keep their order."""
        place = np.cumsum(kept) - 1
        by_right = place[self.by_right[kept[self.by_right]]]
        return ResultRun(self.left[kept], self.right[kept], by_right, tuple(lane[kept] for lane in self.lanes))

    def find(self, side: int, orders: Ints) -> Ints:
        """The positions of the results of some tuples of a side (0: left, 1: right)."""
        first, count = self._catalogues[side].find(orders)
        before = np.cumsum(count) - count
        places = np.repeat(first - before, count) + np.arange(int(count.sum()))
        return self.by_right[places] if side else places

    @cached_property
    def _catalogues(self) -> tuple[CodeIndex, CodeIndex]:
        return CodeIndex(self.left), CodeIndex(self.right[self.by_right])
