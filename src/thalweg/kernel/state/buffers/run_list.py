"""Lists of runs in order of arrival: how they stay few, and how a negative tuple finds its run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Flags
from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import Run

# So few tuples are copied faster than one more run is probed.
_SMALL = 1024


def is_small(tuples: int) -> bool:
    """Whether so few tuples should be one run."""
    return tuples <= _SMALL


def merge_neighbours(runs: list[Run], most: int, now: Instant) -> None:
    """Merge neighbours of up to `most` tuples, unless the older is much larger: it would be copied too often.

    What has ended is left out. So a tuple is copied a logarithmic number of times.
    """
    i = len(runs) - 2
    while i >= 0:
        older, younger = runs[i], runs[i + 1]
        both = len(older) + len(younger)
        if is_small(both) or (both <= most and len(older) <= 2 * len(younger)):
            merged = Run.merge([older, younger], now)
            runs[i : i + 2] = [merged] if len(merged) else []
            i = min(i, len(runs) - 2)
        else:
            i -= 1


def delete_from(runs: list[Run], arrivals: Keyed) -> Flags:
    """Take out of the runs what negative ones among the arrivals delete; which of them found theirs."""
    done = np.zeros(len(arrivals), dtype=np.bool_)
    waiting = np.flatnonzero(arrivals.tuples.sign < 0)
    for i, run in enumerate(runs):  # the oldest are the likeliest to go
        if not len(waiting):
            break
        runs[i], found = run.delete(arrivals.take(waiting))
        done[waiting[found]] = True
        waiting = waiting[~found]
    return done


def without_ended(arrivals: Keyed, now: Instant) -> Run:
    """A run of the arrivals that are still there."""
    alive = arrivals.tuples.end > now
    return Run.of(arrivals if alive.all() else arrivals.take(alive))


class RunList(Buffer):
    """Runs, the oldest first, the youngest merged up to a set share of the list. How it forgets is left open."""

    KEPT = ("_expired_at", "_runs")

    def __init__(self, share: int = 10, lazy: int = 0) -> None:
        """No run that is merged exceeds one `share`-th of the list."""
        super().__init__(lazy)
        self._share = share
        self._runs: list[Run] = []

    @property
    def runs(self) -> Sequence[Run]:
        """The oldest first."""
        return self._runs

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """One more run at the end, merged with its neighbours while they are small."""
        run = without_ended(arrivals, now)
        if len(run):
            self._runs.append(run)
            self._merge(now)

    def delete(self, arrivals: Keyed) -> Flags:
        """By key, from the front."""
        return delete_from(self._runs, arrivals)

    def _merge(self, now: Instant) -> None:
        merge_neighbours(self._runs, len(self) // self._share, now)
