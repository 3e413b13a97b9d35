"""Lists of runs in order of arrival: merging them, and deleting from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Flags
from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.tuning import DEFAULT, Tuning


def merge_neighbours(runs: list[TupleRun], most: int, always: int, now: Instant) -> None:
    """Merge neighbours of up to `most` tuples, unless the older is more than twice as long; drop ended tuples.

    So a tuple is copied a logarithmic number of times. Neighbours of up to `always` tuples are merged in any case.
    """
    i = len(runs) - 2
    while i >= 0:
        older, younger = runs[i], runs[i + 1]
        both = len(older) + len(younger)
        if both <= always or (both <= most and len(older) <= 2 * len(younger)):
            merged = TupleRun.merge([older, younger], now)
            runs[i : i + 2] = [merged] if len(merged) else []
            i = min(i, len(runs) - 2)
        else:
            i -= 1


def delete_from(runs: list[TupleRun], arrivals: Keyed) -> Flags:
    """Delete the equal tuples of the negative arrivals from the runs, and return which arrivals deleted one."""
    deleted = np.zeros(len(arrivals), dtype=np.bool_)
    rest = np.flatnonzero(arrivals.tuples.sign < 0)
    for i, run in enumerate(runs):  # the oldest first: their tuples are the likeliest to be deleted
        if not len(rest):
            break
        runs[i], found = run.delete(arrivals.take(rest))
        deleted[rest[found]] = True
        rest = rest[~found]
    return deleted


def without_ended(arrivals: Keyed, now: Instant) -> TupleRun:
    """A run of the arrivals that have not ended."""
    alive = arrivals.tuples.end > now
    return TupleRun.of(arrivals if alive.all() else arrivals.take(alive))


class RunList(Buffer):
    """Runs, the oldest first; neighbours are merged up to a share of the list. Subclasses drop ended tuples."""

    KEPT = ("_expired_at", "_runs")

    def __init__(self, share: int = 10, lazy: int = 0, tuning: Tuning = DEFAULT) -> None:
        """A merged run has at most 1 / `share` of the tuples."""
        super().__init__(lazy, tuning)
        self._share = share
        self._runs: list[TupleRun] = []

    @property
    def runs(self) -> Sequence[TupleRun]:
        """All runs, the oldest first."""
        return self._runs

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Append a run, and merge neighbours."""
        run = without_ended(arrivals, now)
        if len(run):
            self._runs.append(run)
            self._merge(now)

    def delete(self, arrivals: Keyed) -> Flags:
        """Look for the tuples by key, in the oldest runs first."""
        return delete_from(self._runs, arrivals)

    def _merge(self, now: Instant) -> None:
        merge_neighbours(self._runs, len(self) // self._share, self._tuning.always_merge_runs_up_to, now)
