"""Reference counts: at which times results of an operator end (GhanemEtAl2007 §5.2.1, N4)."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful, Tree


class ReferenceCounts(Stateful, kind="reference-counts/1"):
    """Tells whether anybody above needs to know that time has come to t: only if a result ends by then.

    The paper counts, for each stored tuple, the results that end with it, and for a join with a table lists the times
    at which any does. Both serve to send one message per time and none without a result, so the times are enough. A
    result that was deleted prematurely still has its time here: that message may be in vain.
    """

    KEPT = ("_times",)

    def __init__(self) -> None:
        self._known: set[Instant] = set()
        self._times: list[Instant] = []  # the same as a heap

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._known = set(self._times)

    def add(self, batch: Batch) -> None:
        """Results that say when they end."""
        for end in np.unique(batch.end).tolist():
            if end < FOREVER and end not in self._known:
                self._known.add(end)
                heappush(self._times, end)

    def first(self) -> Instant:
        """The earliest time at which a result ends; FOREVER if none does."""
        return self._times[0] if self._times else FOREVER

    def end(self, clock: Instant) -> bool:
        """Forget the times up to `clock`, and say whether a result ended at any of them."""
        ended = self.first() <= clock
        while self.first() <= clock:
            self._known.remove(heappop(self._times))
        return ended
