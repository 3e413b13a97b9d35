"""Reference counts: the times at which results of an operator end (GhanemEtAl2007 §5.2.1, N4)."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful, Tree


class ReferenceCounts(Stateful, kind="reference-counts/1"):
    """The ends of an operator's results: a time-message for t is needed only if a result ends at t.

    The paper counts for each stored tuple the results that end with it, and for a join with a table it lists the times
    at which results end. Both serve to send one message for each time at which some result ends, so the set of times is
    enough. The end of a result that was deleted prematurely stays in the set, so its message may be unnecessary.
    """

    KEPT = ("_times",)

    def __init__(self) -> None:
        self._known: set[Instant] = set()
        self._times: list[Instant] = []  # a heap of the known times

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._known = set(self._times)

    def add(self, batch: Batch) -> None:
        """Add the ends of results."""
        for end in np.unique(batch.end).tolist():
            if end < FOREVER and end not in self._known:
                self._known.add(end)
                heappush(self._times, end)

    def first(self) -> Instant:
        """The earliest end; FOREVER if there is none."""
        return self._times[0] if self._times else FOREVER

    def end(self, clock: Instant) -> bool:
        """Remove the ends up to `clock`, and return whether there were any."""
        ended = self.first() <= clock
        while self.first() <= clock:
            self._known.remove(heappop(self._times))
        return ended
