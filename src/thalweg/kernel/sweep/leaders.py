"""The state of top-k: all tuples that may still show, the best of them apart, so that a batch looks at few.

Near tuples come no later in the order than the `bound`, far ones later. While enough near ones stay alive throughout a
batch no far one can show, so far ones are only laid aside. When near ones run out, the best far ones move over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import join_runs
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.sweep.ordering import net, order_by, precedes
from thalweg.kernel.sweep.skyband import OLD, may_show, skyband

# The lanes of rows: signed intervals, then dates if there are any, then columns. Rows of earlier batches start at OLD.
START, END, WEIGHT, DATES = 0, 1, 2, 3
Rows = tuple[Lane, ...]

_SPARE, _AMPLE = 64, 4  # near tuples beyond the needed ones, and how many times those
_FEW = 4096  # tuples that are not worth sifting
_SLICES = 16


def take(rows: Rows, which: Lane) -> Rows:
    """Some rows."""
    return tuple(lane[which] for lane in rows)


class Leaders(Stateful, kind="leaders/1"):
    """Tuples in an order of which the first `limit` are wanted; with `prune` there are no negative tuples."""

    KEPT = ("_near", "_far", "_bound", "_near_capacity", "_compact_far_at", "_prune_near_at", "_clock")

    def __init__(
        self, dtypes: Sequence[type[Any]], order: Callable[[Rows], list[Ints]], limit: int, prune: bool
    ) -> None:
        self._order = order
        self._limit = limit
        self._prune = prune
        self._near: Rows = tuple(np.empty(0, dtype=dtype) for dtype in dtypes)
        self._far: list[Rows] = []
        self._fresh: list[Rows] = []  # far tuples that came in this batch
        self._bound: Rows | None = None  # one row; without it every tuple is near
        self._near_capacity = 0
        self._compact_far_at = self._prune_near_at = _FEW
        self._clock: Instant = BEGINNING

    @property
    def stored(self) -> int:
        """How many tuples are kept."""
        return len(self._near[START]) + sum(len(rows[START]) for rows in self._far)

    def restore(self, tree: Tree) -> None:
        """All tuples of a snapshot are old, whatever an older version of this marked them with."""
        super().restore(tree)
        self._near = _aged(self._near)
        self._far = [_aged(rows) for rows in self._far]

    def contenders(self, new: Rows, now: Instant) -> Rows:
        """The old and new tuples among which the first `limit` are at every instant up to `now`."""
        near = new
        if self._bound is not None:
            far = precedes(self._order(self._bound), self._order(new))
            near = take(new, ~far)
            self._fresh.append(take(new, far))
        self._near = join_runs([self._near, near])
        while self._bound is not None and self._lasting(now) < self._limit:
            self._near = join_runs([self._near, self._best_far()])
            self._near_capacity *= 2
        rows = self._near
        for slices in (1, _SLICES):
            if self._prune and len(rows[START]) > _FEW:
                rows = take(
                    rows, may_show(self._order(rows)[0], rows[START], rows[END], self._limit, self._clock, now, slices)
                )
        return rows

    def _lasting(self, now: Instant) -> int:
        """At least how many near tuples there are at every instant of the batch."""
        positive = self._near[WEIGHT] > 0
        lasts = positive & (self._near[START] == OLD) & (self._near[END] > now)
        return int(lasts.sum()) - int((~positive).sum())

    def _best_far(self) -> Rows:
        """Move the bound so that about as many far tuples as there is room for, or all, become near."""
        far = join_runs([*self._far, *self._fresh])
        far = take(far, far[END] > self._clock)
        self._far = []
        if len(far[START]) <= 2 * self._near_capacity:
            self._bound, self._fresh = None, []
            return far
        near, far = self._part(far)
        self._fresh = [far]
        return near

    def _part(self, rows: Rows) -> tuple[Rows, Rows]:
        """Move the bound to where there is room for the rows before it; rows up to it, and beyond."""
        lanes = self._order(rows)
        bound = _nth(lanes, self._near_capacity - 1)
        self._bound = take(rows, bound)
        far = precedes([lane[bound] for lane in lanes], lanes)
        return take(rows, ~far), take(rows, far)

    def settle(self, now: Instant) -> None:
        """After a batch: drop what is dead, and lay aside what is far."""
        self._clock = now
        rows = take(self._near, self._near[END] > now)
        rows[START][:] = OLD
        if not self._prune and bool((rows[WEIGHT] < 0).any()):
            rows = _net(rows)
        self._near_capacity = _AMPLE * (self._limit + len(self._near[START]) - len(rows[START])) + _SPARE
        if self._prune and len(rows[START]) > self._prune_near_at:
            rows = self._pruned(rows)
            self._prune_near_at = max(_FEW, 2 * len(rows[START]))
        if len(rows[START]) > 2 * self._near_capacity:
            rows, far = self._part(rows)
            self._fresh.append(far)
        self._near = rows
        for fresh in self._fresh:
            self._lay_aside(fresh)
        self._fresh = []
        if sum(len(rows[START]) for rows in self._far) > self._compact_far_at:
            self._tidy()

    def _lay_aside(self, rows: Rows) -> None:
        """Far tuples are old from now on. Runs of them are merged like the digits of a binary counter."""
        rows[START][:] = OLD
        if self._prune:
            rows = self._pruned(rows)
        while self._far and len(self._far[-1][START]) <= 2 * len(rows[START]):
            rows = join_runs([self._far.pop(), rows])
        self._far.append(rows)

    def _pruned(self, rows: Rows) -> Rows:
        """The rows that may still show, judged by the first key alone."""
        return take(rows, skyband(self._order(rows)[0], rows[END], self._limit))

    def _tidy(self) -> None:
        """Drop the far tuples that are dead, cancelled, or can never show."""
        far = join_runs(self._far)
        far = take(far, far[END] > self._clock)
        if self._prune:
            both = join_runs([self._near, far])
            rank = np.empty(len(both[START]), dtype=np.int64)
            rank[order_by(*self._order(both))] = np.arange(len(rank))
            far = take(far, skyband(rank, both[END], self._limit)[len(self._near[START]) :])
        else:
            far = _net(far)
        self._far = [far]
        self._compact_far_at = max(_FEW, 2 * len(far[START]))


def _aged(rows: Rows) -> Rows:
    return (np.full_like(rows[START], OLD), *rows[START + 1 :])


def _nth(lanes: Sequence[Ints], n: int) -> Ints:
    """The position, as an array of one, of a row that has n rows before it in order."""
    rows = np.arange(len(lanes[0]))
    for lane in lanes:
        values = lane[rows]
        cut = np.partition(values, n)[n]
        n -= int((values < cut).sum())
        rows = rows[values == cut]
    return rows[:1]


def _net(rows: Rows) -> Rows:
    """What is left of tuples that are alike but for their signs."""
    left, signs = net([rows[END], *rows[DATES:]], rows[WEIGHT])
    return (rows[START][left], rows[END][left], signs, *(lane[left] for lane in rows[DATES:]))
