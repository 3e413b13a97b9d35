"""The circular array of partitions by expiry time: seed 000, section 5.3.2 and Figure 7.

For inputs whose ends are known but not in order of arrival (WK). With five partitions of width 10, at time 50:

    ends      51-60    61-70    71-80    81-90    91-100
    at 60     the first is dropped whole, and its place is that of the ends 101-110

An arrival touches the partitions that its tuples end in. So does a negative tuple: it ends with the one it deletes.
The width follows from the longest lifetime met; when a longer one comes, all is laid out anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.state.buffers.base import Buffer
from thalweg.state.buffers.run_list import delete_from, merge_neighbours, without_ended
from thalweg.state.keyed import Keyed
from thalweg.state.run import Run

# How much wider partitions become at least, so that they are laid out anew but a few times.
_WIDER = 1.25


class PartitionedBuffer(Buffer):
    """Tuples by partition of their end, and apart those that never end.

    The ends of n partitions' width begin and end inside a partition, so the array has n + 1 places.
    """

    # A buffer stays as it was laid out, also where a restored query asks for another number of partitions.
    KEPT = ("_expired_at", "_spanned", "_width", "_partitions", "_numbers")

    def __init__(self, partitions: int = 10, lazy: int = 0) -> None:
        """A lifetime spans `partitions` partitions: more of them forget sooner, and each costs a probe its search."""
        super().__init__(lazy)
        self._spanned = partitions
        self._width = 1  # ticks of a partition
        self._partitions: list[list[Run]] = [[] for _ in range(partitions + 2)]
        self._numbers = [BEGINNING] * (partitions + 1)  # by place: ends of this number times the width, and on

    @property
    def runs(self) -> Sequence[Run]:
        """All partitions' runs."""
        return [run for partition in self._partitions for run in partition]

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Each tuple into its partition, whose runs are merged geometrically."""
        run = without_ended(arrivals, now)
        if len(run):
            longest = int(run.end.max(initial=now, where=run.end < FOREVER)) - now
            if longest > self._width * self._spanned:
                self._widen(longest, now)
            self._put(run, now)

    def delete(self, arrivals: Keyed) -> Flags:
        """In the partitions that the negative tuples end in."""
        done = np.zeros(len(arrivals), dtype=np.bool_)
        negative = np.flatnonzero(arrivals.tuples.sign < 0)
        if len(negative) and len(self):
            place = self._place(arrivals.tuples.end[negative])
            for i in np.unique(place).tolist():
                mine = negative[place == i]
                done[mine] = delete_from(self._partitions[i], arrivals.take(mine))
        return done

    def _forget(self, now: Instant) -> None:
        """Whole partitions, once their last instant has come, and runs that have been deleted."""
        current = (now + 1) // self._width
        for i, number in enumerate(self._numbers):
            if number < current:
                self._partitions[i] = []
        self._partitions = [[run for run in part if run.last_end > now] for part in self._partitions]

    def _place(self, end: Ints) -> Ints:
        """Where tuples are; the last place is that of those that never end."""
        last = self._spanned + 1
        return np.where(end == FOREVER, last, end // self._width % last)

    def _put(self, run: Run, now: Instant) -> None:
        place = self._place(run.end)
        order = np.argsort(place.astype(np.int16), kind="stable")  # by partition, then still by key
        stop = np.cumsum(np.bincount(place)).tolist()
        for i, (first, last) in enumerate(pairwise([0, *stop])):
            if first < last:
                mine = run.take(order[first:last]) if last - first < len(run) else run
                self._add(i, mine, now)

    def _add(self, place: int, run: Run, now: Instant) -> None:
        if place < len(self._numbers):
            self._turn_to(place, int(run.end[0]) // self._width)
        partition = self._partitions[place]
        partition.append(run)
        merge_neighbours(partition, sum(map(len, partition)), now)

    def _turn_to(self, place: int, number: int) -> None:
        """Whatever was there before has ended, and need not have been forgotten yet."""
        if self._numbers[place] != number:
            self._partitions[place] = []
            self._numbers[place] = number

    def _widen(self, longest: int, now: Instant) -> None:
        """Partitions so wide that lifetimes span as many of them as they should; all tuples move."""
        runs = [run.alive(now) for run in self.runs]
        self._width = max(-(-longest // self._spanned), int(_WIDER * self._width))
        self._partitions = [[] for _ in self._partitions]
        self._numbers = [BEGINNING for _ in self._numbers]
        for run in runs:
            if len(run):
                self._put(run, now)
