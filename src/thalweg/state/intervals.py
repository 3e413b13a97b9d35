"""The tuples of one join side that may still meet something. The partitioned buffer of seed 000, section 5.3.2.

The store is a list of immutable runs in the order they came. The youngest are merged geometrically, up to the size of a
partition: a set share of the store. In a FIFO window, runs therefore end one after the other, each dropped whole, and
only the oldest holds tuples that have ended already. Where lifetimes differ, a run is rewritten once much of it has
ended. A negative tuple takes out its positive one at once, and neither stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import Instant
from thalweg.state.keyed import Keyed
from thalweg.state.run import Run

# Runs are rewritten when this share of the store has ended: a probe meets few dead tuples, a tuple is copied few times.
_TOO_MANY = 0.25
# So few tuples are copied faster than one more run is probed.
_SMALL = 1024


class IntervalStore:
    """Signed tuples by the dense code of their key, until they end or are deleted."""

    def __init__(self, partitions: int = 10) -> None:
        self._partitions = partitions
        self._runs: list[Run] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, codes: Ints, batch: Batch, now: Instant) -> None:
        """Tuples that have begun by `now`; negative ones delete equal positive ones, or wait if there are none."""
        self.keep(Keyed.of(codes, batch), now)

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """The same for tuples in order."""
        gone = self.delete(arrivals) | (arrivals.tuples.end <= now)
        run = Run.of(arrivals.take(~gone) if gone.any() else arrivals)
        if len(run):
            self._runs.append(run)
            self._merge(now)

    def delete(self, arrivals: Keyed) -> Flags:
        """Take out what the negative ones among the arrivals delete, and say which of them found theirs."""
        done = np.zeros(len(arrivals), dtype=np.bool_)
        waiting = np.flatnonzero(arrivals.tuples.sign < 0)
        for i, run in enumerate(self._runs):  # the oldest are the likeliest to go
            if not len(waiting):
                break
            self._runs[i], found = run.delete(arrivals.take(waiting))
            done[waiting[found]] = True
            waiting = waiting[~found]
        return done

    def probe(self, codes: Ints) -> Iterator[tuple[Run, Ints, Ints]]:
        """Run by run, for each code the first place of its tuples and their number; ascending codes are found fastest.

        All have begun. Some may have ended.
        """
        for run in self._runs if len(codes) else ():
            yield (run, *run.find(codes))

    def expire(self, now: Instant) -> None:
        """Forget what has ended: whole runs, and parts of runs where that is worth it."""
        self._runs = [run for run in self._runs if run.last_end > now]
        ended = [run.ended_share(now) for run in self._runs]
        if sum(share * len(run) for share, run in zip(ended, self._runs, strict=True)) > _TOO_MANY * len(self):
            parts = [run.alive(now) if share > _TOO_MANY else run for share, run in zip(ended, self._runs, strict=True)]
            self._runs = parts
            self._merge(now)

    def snapshot(self) -> tuple[Run, ...]:
        """The runs, which never change."""
        return tuple(self._runs)

    def restore(self, runs: Sequence[Run]) -> None:
        """Go back to a snapshot."""
        self._runs = list(runs)

    def _merge(self, now: Instant) -> None:
        """Merge neighbours that fit into a partition, unless the older is much larger: it would be copied too often."""
        most = len(self) // self._partitions
        i = len(self._runs) - 2
        while i >= 0:
            older, younger = self._runs[i], self._runs[i + 1]
            both = len(older) + len(younger)
            if both <= _SMALL or (both <= most and len(older) <= 2 * len(younger)):
                merged = Run.merge([older, younger], now)
                self._runs[i : i + 2] = [merged] if len(merged) else []
                i = min(i, len(self._runs) - 2)
            else:
                i -= 1
