"""The state of top-k: all tuples that may still be in the answer, split into near and far, so that a batch reads few.

Near tuples come up to the `bound` in the order, far tuples after it. While enough near tuples live throughout a batch,
no far tuple can be in the answer, and far tuples are only stored. When near tuples run out, the best far tuples become
near.
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
from thalweg.kernel.tuning import DEFAULT, Tuning

# The lanes of rows: signed intervals, then dates if there are any, then columns. Old rows have the start OLD.
START, END, WEIGHT, DATES = 0, 1, 2, 3
TopKRows = tuple[Lane, ...]

_TIME_SLICES = 16  # in which near tuples are pruned, if they were not pruned enough over the batch as a whole


def take(rows: TopKRows, which: Lane) -> TopKRows:
    """Some rows."""
    return tuple(lane[which] for lane in rows)


class TopKState(Stateful, kind="leaders/1"):
    """Tuples in an order of which the first `limit` are wanted.

    With `prune` there are no negative tuples, so tuples outside the k-skyband can be dropped.
    """

    KEPT = ("_near", "_far", "_bound", "_near_capacity", "_compact_far_at", "_prune_near_at", "_clock")

    def __init__(
        self,
        dtypes: Sequence[type[Any]],
        order: Callable[[TopKRows], list[Ints]],
        limit: int,
        prune: bool,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._tuning = tuning
        self._order = order
        self._limit = limit
        self._prune = prune
        self._near: TopKRows = tuple(np.empty(0, dtype=dtype) for dtype in dtypes)
        self._far: list[TopKRows] = []
        self._fresh: list[TopKRows] = []  # far tuples that arrived in this batch
        self._bound: TopKRows | None = None  # one row; None: every tuple is near
        self._near_capacity = 0
        self._compact_far_at = self._prune_near_at = tuning.prune_above
        self._clock: Instant = BEGINNING

    @property
    def stored(self) -> int:
        """The number of stored tuples."""
        return len(self._near[START]) + sum(len(rows[START]) for rows in self._far)

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot. All its tuples are old, however an earlier version of this class marked them."""
        super().restore(tree)
        self._near = _aged(self._near)
        self._far = [_aged(rows) for rows in self._far]

    def contenders(self, new: TopKRows, now: Instant) -> TopKRows:
        """Old and new tuples that include the first `limit` tuples at every instant up to `now`."""
        near = new
        if self._bound is not None:
            lanes = self._order(join_runs([self._bound, new]))  # what two calls return cannot be compared
            far = precedes([lane[:1] for lane in lanes], [lane[1:] for lane in lanes])
            near = take(new, ~far)
            self._fresh.append(take(new, far))
        self._near = join_runs([self._near, near])
        while self._bound is not None and self._lasting(now) < self._limit:
            self._near = join_runs([self._near, self._take_best_far()])
            self._near_capacity *= 2
        rows = self._near
        for slices in (1, _TIME_SLICES):
            if self._prune and len(rows[START]) > self._tuning.prune_above:
                rows = take(
                    rows, may_show(self._order(rows)[0], rows[START], rows[END], self._limit, self._clock, now, slices)
                )
        return rows

    def _lasting(self, now: Instant) -> int:
        """A lower bound on the number of near tuples at every instant of the batch."""
        positive = self._near[WEIGHT] > 0
        lasts = positive & (self._near[START] == OLD) & (self._near[END] > now)
        return int(lasts.sum()) - int((~positive).sum())

    def _take_best_far(self) -> TopKRows:
        """Move the bound so that the best far tuples, up to the capacity for near ones, become near; return them."""
        far = join_runs([*self._far, *self._fresh])
        far = take(far, far[END] > self._clock)
        self._far = []
        if len(far[START]) <= 2 * self._near_capacity:
            self._bound, self._fresh = None, []
            return far
        near, far = self._split(far)
        self._fresh = [far]
        return near

    def _split(self, rows: TopKRows) -> tuple[TopKRows, TopKRows]:
        """Move the bound so that the capacity for near tuples is used; return the rows up to it, and the others."""
        lanes = self._order(rows)
        bound = _nth(lanes, self._near_capacity - 1)
        self._bound = take(rows, bound)
        far = precedes([lane[bound] for lane in lanes], lanes)
        return take(rows, ~far), take(rows, far)

    def finish_batch(self, now: Instant) -> None:
        """Drop ended tuples, and store far ones."""
        self._clock = now
        rows = take(self._near, self._near[END] > now)
        rows[START][:] = OLD
        if not self._prune and bool((rows[WEIGHT] < 0).any()):
            rows = _net(rows)
        ended = len(self._near[START]) - len(rows[START])
        self._near_capacity = self._tuning.near_factor * (self._limit + ended) + self._tuning.near_spare
        if self._prune and len(rows[START]) > self._prune_near_at:
            rows = self._pruned(rows)
            self._prune_near_at = max(self._tuning.prune_above, 2 * len(rows[START]))
        if len(rows[START]) > 2 * self._near_capacity:
            rows, far = self._split(rows)
            self._fresh.append(far)
        self._near = rows
        for fresh in self._fresh:
            self._store_far(fresh)
        self._fresh = []
        if sum(len(rows[START]) for rows in self._far) > self._compact_far_at:
            self._compact_far()

    def _store_far(self, rows: TopKRows) -> None:
        """Store far tuples, which are old from now on. Their runs are merged geometrically."""
        rows[START][:] = OLD
        if self._prune:
            rows = self._pruned(rows)
        while self._far and len(self._far[-1][START]) <= 2 * len(rows[START]):
            rows = join_runs([self._far.pop(), rows])
        self._far.append(rows)

    def _pruned(self, rows: TopKRows) -> TopKRows:
        """The rows that may still be in the answer, judged by the first sort key alone."""
        return take(rows, skyband(self._order(rows)[0], rows[END], self._limit, self._tuning.skyband_part))

    def _compact_far(self) -> None:
        """Drop the far tuples that have ended, are cancelled, or can never be in the answer."""
        far = join_runs(self._far)
        far = take(far, far[END] > self._clock)
        if self._prune:
            both = join_runs([self._near, far])
            rank = np.empty(len(both[START]), dtype=np.int64)
            rank[order_by(*self._order(both))] = np.arange(len(rank))
            kept = skyband(rank, both[END], self._limit, self._tuning.skyband_part)
            far = take(far, kept[len(self._near[START]) :])
        else:
            far = _net(far)
        self._far = [far]
        self._compact_far_at = max(self._tuning.prune_above, 2 * len(far[START]))


def _aged(rows: TopKRows) -> TopKRows:
    return (np.full_like(rows[START], OLD), *rows[START + 1 :])


def _nth(lanes: Sequence[Ints], n: int) -> Ints:
    """The position, as an array of length one, of a row that has n rows before it in the order."""
    rows = np.arange(len(lanes[0]))
    for lane in lanes:
        values = lane[rows]
        cut = np.partition(values, n)[n]
        n -= int((values < cut).sum())
        rows = rows[values == cut]
    return rows[:1]


def _net(rows: TopKRows) -> TopKRows:
    """The rows without pairs of equal tuples of opposite signs."""
    left, signs = net([rows[END], *rows[DATES:]], rows[WEIGHT])
    return (rows[START][left], rows[END][left], signs, *(lane[left] for lane in rows[DATES:]))
