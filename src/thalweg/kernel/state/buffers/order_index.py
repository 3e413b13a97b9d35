"""Join results by either of their two tuples: the two catalogues of PatroumpasSellis2011 §4.2.

Over physical windows the end of a result is not known in advance. But each of its two tuples has an order of expiration
within its own window, and the orders of two windows cannot be compared. So a result carries both orders and stands in
two catalogues, each sorted by the order of one side. When a tuple leaves its window, its order leads to its results.

Results lie in immutable runs, beside an array that says which results are alive. The youngest runs are merged
geometrically up to a set share of the index, and a run is rewritten when more than half of its results have left. So a
result is copied a logarithmic number of times, and a deletion costs one search per run.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.kernel.state.buffers.result_run import ResultRun
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.tuning import DEFAULT, Tuning

LEFT, RIGHT = 0, 1


class OrderIndex(Stateful, kind="order-index/1"):
    """Results by left and by right order, until one of the two tuples leaves. An order that has left can be reused."""

    KEPT = ("_indexed_runs",)

    def __init__(self, tuning: Tuning = DEFAULT) -> None:
        self._tuning = tuning
        self._indexed_runs: list[_IndexedRun] = []

    def __len__(self) -> int:
        return sum(run.alive_count for run in self._indexed_runs)

    @property
    def nbytes(self) -> int:
        """The size of all arrays, which still hold some results that have left."""
        return sum(run.run.nbytes + run.alive.nbytes for run in self._indexed_runs)

    def add(self, left_order: Ints, right_order: Ints, *lanes: Lane) -> None:
        """Add results, with further lanes that `leave` will return."""
        if len(left_order):
            self._indexed_runs.append(_IndexedRun(ResultRun.of(left_order, right_order, lanes)))
            self._merge()

    def leave(self, side: int, orders: Ints) -> tuple[Lane, ...] | None:
        """Take out the results of tuples of one side: (left orders, right orders, *lanes), or None if there are none.

        Orders must differ. Ascending orders are found fastest.
        """
        if not len(orders):
            return None
        taken = [results for run in self._indexed_runs if (results := run.take_out(side, orders)) is not None]
        if not taken:
            return None
        self._indexed_runs = [rest for run in self._indexed_runs if (rest := run.compacted()) is not None]
        self._merge()
        return tuple(np.concatenate(lanes) for lanes in zip(*taken, strict=True))

    def _merge(self) -> None:
        """Merge neighbours up to a share of the index, unless the older is more than twice as long as the younger."""
        most = len(self) // self._tuning.result_runs
        i = len(self._indexed_runs) - 2
        while i >= 0:
            older, younger = self._indexed_runs[i : i + 2]
            both = older.alive_count + younger.alive_count
            always = both <= self._tuning.always_merge_runs_up_to
            if always or (both <= most and older.alive_count <= 2 * younger.alive_count):
                self._indexed_runs[i : i + 2] = [_IndexedRun(ResultRun.merge(older.rest(), younger.rest()))]
                i = min(i, len(self._indexed_runs) - 2)
            else:
                i -= 1


class _IndexedRun(Stateful, kind="indexed-result-run/1"):
    """A run of results, and which of them have not left."""

    KEPT = ("run", "alive", "alive_count")

    def __init__(self, run: ResultRun) -> None:
        self.run = run
        self.alive: Flags = np.ones(len(run), dtype=np.bool_)
        self.alive_count = len(run)

    def take_out(self, side: int, orders: Ints) -> tuple[Lane, ...] | None:
        found = self.run.find(side, orders)
        found = found[self.alive[found]]  # some have left with their other tuple
        if not len(found):
            return None
        self.alive[found] = False
        self.alive_count -= len(found)
        return tuple(lane[found] for lane in (self.run.left, self.run.right, *self.run.lanes))

    def compacted(self) -> _IndexedRun | None:
        """The run, rewritten if less than half of its results are alive; None if no result is."""
        if not self.alive_count:
            return None
        return _IndexedRun(self.rest()) if 2 * self.alive_count < len(self.run) else self

    def rest(self) -> ResultRun:
        """The alive results as a run."""
        return self.run if self.alive_count == len(self.run) else self.run.where(self.alive)
