"""The circular array of partitions by expiry time: GolabOzsu2005 §5.3.2 and Figure 7.

For inputs whose ends are known but not in order of arrival (WK). With five partitions of width 10, at time 50:

    ends      51-60    61-70    71-80    81-90    91-100
    at 60     the first is dropped whole, and its place is that of the ends 101-110

Arrivals are laid out a good many at a time, and touch the partitions that they end in. So does a negative tuple: it
ends with the one it deletes. The width follows from the longest lifetime met; when a longer one comes, all is laid out
anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.buffers.run_list import delete_from, is_small, merge_neighbours, without_ended
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import Run

# How much wider partitions become at least, so that they are laid out anew but a few times.
_WIDER = 1.25
# The young are laid out when they are so large a share of all: few of them have ended by then, and partitions grow by
# large runs instead of many small ones.
_YOUNG = 0.5


class PartitionedBuffer(Buffer, kind="partitioned-buffer/1"):
    """The young as they came; older tuples by partition of their end, and apart those that never end.

    The ends of n partitions' width begin and end inside a partition, so the array has n + 1 places.
    """

    # A buffer stays as it was laid out, also where a restored query asks for another number of partitions.
    KEPT = ("_expired_at", "_partitions_per_lifetime", "_recent", "_width", "_partitions", "_partition_numbers")

    def __init__(self, partitions: int = 10, lazy: int = 0) -> None:
        """A lifetime spans `partitions` partitions: more of them forget sooner, and each costs a probe its search."""
        super().__init__(lazy)
        self._partitions_per_lifetime = partitions
        self._recent: list[Run] = []
        self._width = 1  # ticks of a partition
        self._partitions: list[list[Run]] = [[] for _ in range(partitions + 2)]
        self._partition_numbers = [BEGINNING] * (
            partitions + 1
        )  # by place: ends of this number times the width, and on

    @property
    def runs(self) -> Sequence[Run]:
        """The young runs, then all partitions'."""
        return [*self._recent, *(run for partition in self._partitions for run in partition)]

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Among the young; when these are many, each into its partition, whose runs are merged geometrically."""
        run = without_ended(arrivals, now)
        if not len(run):
            return
        self._recent.append(run)
        young = sum(map(len, self._recent))
        if is_small(young) or young < _YOUNG * len(self):
            merge_neighbours(self._recent, young, now)
        else:
            settled = Run.merge(self._recent, now) if len(self._recent) > 1 else run
            self._recent = []
            self._lay_out(settled, now)

    def delete(self, arrivals: Keyed) -> Flags:
        """In the partitions that the negative tuples end in, and among the young."""
        done = delete_from(self._recent, arrivals)
        negative = np.flatnonzero((arrivals.tuples.sign < 0) & ~done)
        if len(negative):
            place = self._place(arrivals.tuples.end[negative])
            for i in np.unique(place).tolist():
                mine = negative[place == i]
                done[mine] = delete_from(self._partitions[i], arrivals.take(mine))
        return done

    def _forget(self, now: Instant) -> None:
        """Whole partitions, once their last instant has come, and runs of which nothing is left."""
        current = (now + 1) // self._width
        for i, number in enumerate(self._partition_numbers):
            if number < current:
                self._partitions[i] = []
        self._recent = [run for run in self._recent if run.last_end > now]
        self._partitions = [[run for run in part if run.last_end > now] for part in self._partitions]

    def _lay_out(self, run: Run, now: Instant) -> None:
        longest = int(run.end.max(initial=now, where=run.end < FOREVER)) - now
        if longest > self._width * self._partitions_per_lifetime:
            self._widen(longest, now)
        self._put(run, now)

    def _widen(self, longest: int, now: Instant) -> None:
        """Partitions so wide that lifetimes span as many of them as they should; all tuples move."""
        runs = [run.alive(now) for partition in self._partitions for run in partition]
        self._width = max(-(-longest // self._partitions_per_lifetime), int(_WIDER * self._width))
        self._partitions = [[] for _ in self._partitions]
        self._partition_numbers = [BEGINNING for _ in self._partition_numbers]
        for run in runs:
            self._put(run, now)

    def _put(self, run: Run, now: Instant) -> None:
        place = self._place(run.end)
        order = np.argsort(place.astype(np.int16), kind="stable")  # by partition, then still by key
        stop = np.cumsum(np.bincount(place)).tolist()
        for i, (first, last) in enumerate(pairwise([0, *stop])):
            if first < last:
                self._add(i, run.take(order[first:last]), now)

    def _place(self, end: Ints) -> Ints:
        """Where tuples are; the last place is that of those that never end."""
        last = self._partitions_per_lifetime + 1
        return np.where(end == FOREVER, last, end // self._width % last)

    def _add(self, place: int, run: Run, now: Instant) -> None:
        if place < len(self._partition_numbers):
            self._turn_to(place, int(run.end[0]) // self._width)
        partition = self._partitions[place]
        partition.append(run)
        merge_neighbours(partition, sum(map(len, partition)), now)

    def _turn_to(self, place: int, number: int) -> None:
        """Whatever was there before has ended, and need not have been forgotten yet."""
        if self._partition_numbers[place] != number:
            self._partitions[place] = []
            self._partition_numbers[place] = number
