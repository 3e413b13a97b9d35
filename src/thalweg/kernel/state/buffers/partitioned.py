"""The circular array of partitions by expiration time: GolabOzsu2005 §5.3.2 and Figure 7.

For inputs whose ends are known, but not in order of arrival (WK). With five partitions of width 10, at time 50:

    ends      51-60    61-70    71-80    81-90    91-100
    at 60     the first partition is dropped, and its slot is used for the ends 101-110

Arrivals are first collected, then sorted into the partitions of their ends. A negative tuple has the end of the tuple
that it deletes, so it is looked for in one partition. The width follows from the longest lifetime so far; when a longer
one arrives, partitions become wider and all tuples move.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.buffers.run_list import delete_from, merge_neighbours, without_ended
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.tuning import DEFAULT, Tuning

_LEAST_GROWTH_OF_WIDTH = 1.25  # so that all tuples move only a few times


class PartitionedBuffer(Buffer, kind="partitioned-buffer/1"):
    """Recent tuples in order of arrival; older tuples by partition of their end; endless tuples in a partition apart.

    An interval as long as n partitions touches up to n + 1 of them, so the array has n + 1 slots.
    """

    # A restored buffer keeps its layout, even if the settings now ask for another number of partitions.
    KEPT = ("_expired_at", "_partitions_per_lifetime", "_recent", "_width", "_partitions", "_partition_numbers")

    def __init__(self, partitions: int = 10, lazy: int = 0, tuning: Tuning = DEFAULT) -> None:
        """A lifetime spans `partitions` partitions. With more of them tuples leave sooner, and probes cost more."""
        super().__init__(lazy, tuning)
        self._partitions_per_lifetime = partitions
        self._recent: list[TupleRun] = []
        self._width = 1  # of a partition, in ticks
        self._partitions: list[list[TupleRun]] = [[] for _ in range(partitions + 2)]
        self._partition_numbers = [BEGINNING] * (
            partitions + 1
        )  # by place: ends of this number times the width, and on

    @property
    def runs(self) -> Sequence[TupleRun]:
        """The recent runs, then the runs of all partitions."""
        return [*self._recent, *(run for partition in self._partitions for run in partition)]

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Add recent tuples; when they are a large share of all, sort them into their partitions.

        By then few of them have ended, and partitions grow by few large runs instead of many small ones.
        """
        run = without_ended(arrivals, now)
        if not len(run):
            return
        self._recent.append(run)
        recent, always_merge = sum(map(len, self._recent)), self._tuning.always_merge_runs_up_to
        if recent <= always_merge or recent < self._tuning.lay_out_recent_at_share * len(self):
            merge_neighbours(self._recent, recent, always_merge, now)
        else:
            merged = TupleRun.merge(self._recent, now) if len(self._recent) > 1 else run
            self._recent = []
            self._lay_out(merged, now)

    def delete(self, arrivals: Keyed) -> Flags:
        """Look for the tuples among the recent ones, then in the partitions of their ends."""
        deleted = delete_from(self._recent, arrivals)
        negative = np.flatnonzero((arrivals.tuples.sign < 0) & ~deleted)
        if len(negative):
            slot = self._slot(arrivals.tuples.end[negative])
            for i in np.unique(slot).tolist():
                rows = negative[slot == i]
                deleted[rows] = delete_from(self._partitions[i], arrivals.take(rows))
        return deleted

    def _drop_ended(self, now: Instant) -> None:
        """Drop partitions whose last instant has come, and runs without alive tuples."""
        current = (now + 1) // self._width
        for i, number in enumerate(self._partition_numbers):
            if number < current:
                self._partitions[i] = []
        self._recent = [run for run in self._recent if run.last_end > now]
        self._partitions = [[run for run in part if run.last_end > now] for part in self._partitions]

    def _lay_out(self, run: TupleRun, now: Instant) -> None:
        longest = int(run.end.max(initial=now, where=run.end < FOREVER)) - now
        if longest > self._width * self._partitions_per_lifetime:
            self._widen(longest, now)
        self._put(run, now)

    def _widen(self, longest: int, now: Instant) -> None:
        """Make partitions so wide that the longest lifetime spans the set number of them; all tuples move."""
        runs = [run.alive(now) for partition in self._partitions for run in partition]
        self._width = max(-(-longest // self._partitions_per_lifetime), int(_LEAST_GROWTH_OF_WIDTH * self._width))
        self._partitions = [[] for _ in self._partitions]
        self._partition_numbers = [BEGINNING for _ in self._partition_numbers]
        for run in runs:
            self._put(run, now)

    def _put(self, run: TupleRun, now: Instant) -> None:
        slot = self._slot(run.end)
        order = np.argsort(slot.astype(np.int16), kind="stable")  # by partition, then by key as before
        stop = np.cumsum(np.bincount(slot)).tolist()
        for i, (first, last) in enumerate(pairwise([0, *stop])):
            if first < last:
                self._add(i, run.take(order[first:last]), now)

    def _slot(self, end: Ints) -> Ints:
        """The slots of tuples with these ends; the last slot holds endless tuples."""
        last = self._partitions_per_lifetime + 1
        return np.where(end == FOREVER, last, end // self._width % last)

    def _add(self, slot: int, run: TupleRun, now: Instant) -> None:
        if slot < len(self._partition_numbers):
            self._reuse(slot, int(run.end[0]) // self._width)
        partition = self._partitions[slot]
        partition.append(run)
        merge_neighbours(partition, sum(map(len, partition)), self._tuning.always_merge_runs_up_to, now)

    def _reuse(self, slot: int, number: int) -> None:
        """Drop the partition that used the slot before: its tuples have ended, but `expire` may not have run since."""
        if self._partition_numbers[slot] != number:
            self._partitions[slot] = []
            self._partition_numbers[slot] = number
