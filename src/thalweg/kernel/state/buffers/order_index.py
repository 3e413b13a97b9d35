"""Join results found by either of the two tuples they consist of: the two catalogues of PatroumpasSellis2011 §4.2.

Over physical windows no instant says when a result ends, but each of its tuples has an order of expiration within its
own window, and orders of two windows do not compare. So a result carries both, and has its place in two catalogues,
each sorted by one side's order. When a tuple leaves its window, its order leads to all its results at once.

Results lie in immutable runs; which of them are left is written down beside. The youngest runs are merged
geometrically up to a set share of the index, and a run is rewritten once more than half of it has gone: a result is
copied a logarithmic number of times, and finding what leaves costs a search per run.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.kernel.state.buffers.result_run import ResultRun
from thalweg.kernel.state.snapshot import Stateful

_PARTITIONS = 16  # a run grows to this share of the index
_SMALL = 1024  # so few results are copied faster than one more run is searched

LEFT, RIGHT = 0, 1


class OrderIndex(Stateful, kind="order-index/1"):
    """Results by left and by right order, until one of them leaves. An order that has left may be given again."""

    KEPT = ("_indexed_runs",)

    def __init__(self) -> None:
        self._indexed_runs: list[_IndexedRun] = []

    def __len__(self) -> int:
        return sum(part.alive_count for part in self._indexed_runs)

    @property
    def nbytes(self) -> int:
        """The size of all arrays, including results that have left."""
        return sum(part.run.nbytes + part.alive.nbytes for part in self._indexed_runs)

    def add(self, left_order: Ints, right_order: Ints, *lanes: Lane) -> None:
        """More results; the lanes say what else is to be known of them."""
        if len(left_order):
            self._indexed_runs.append(_IndexedRun(ResultRun.of(left_order, right_order, lanes)))
            self._merge()

    def leave(self, side: int, orders: Ints) -> tuple[Lane, ...] | None:
        """What tuples of a side take along when they leave: (left orders, right orders, *lanes), None if nothing.

        Orders must differ. Those of a ROWS window leave one after the other, those of PARTITION BY anywhere: sorted
        ones that stand together are found fastest.
        """
        if not len(orders):
            return None
        taken = [results for part in self._indexed_runs if (results := part.take_out(side, orders)) is not None]
        if not taken:
            return None
        self._indexed_runs = [tidied for part in self._indexed_runs if (tidied := part.tidied()) is not None]
        self._merge()
        return tuple(np.concatenate(lanes) for lanes in zip(*taken, strict=True))

    def _merge(self) -> None:
        """Merge neighbours that fit into a partition, unless the older is much larger: it would be copied too often."""
        most = len(self) // _PARTITIONS
        i = len(self._indexed_runs) - 2
        while i >= 0:
            older, younger = self._indexed_runs[i : i + 2]
            both = older.alive_count + younger.alive_count
            if both <= _SMALL or (both <= most and older.alive_count <= 2 * younger.alive_count):
                self._indexed_runs[i : i + 2] = [_IndexedRun(ResultRun.merge(older.whole(), younger.whole()))]
                i = min(i, len(self._indexed_runs) - 2)
            else:
                i -= 1


class _IndexedRun(Stateful, kind="indexed-result-run/1"):
    """A run, and which of its results have not left."""

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

    def tidied(self) -> _IndexedRun | None:
        """The same, rewritten if little of it is left; None if nothing is."""
        if not self.alive_count:
            return None
        return _IndexedRun(self.whole()) if 2 * self.alive_count < len(self.run) else self

    def whole(self) -> ResultRun:
        """A run of what is left."""
        return self.run if self.alive_count == len(self.run) else self.run.where(self.alive)
