"""State buffers that are lists of runs in order of arrival: the FIFO list and the hash buffer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Flags
from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.tuning import DEFAULT, Tuning

# Then a probe meets few ended tuples, and a tuple is copied few times.
_REWRITE_RUN_WHEN_ENDED_SHARE = 0.25


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


class FifoBuffer(RunList, kind="fifo-buffer/1"):
    """The FIFO list of GolabOzsu2005 §5.3.2: for inputs whose tuples leave in the order of their arrival (WKS).

        runs, oldest first   [ 1 .. 9 ] [ 10 .. 19 ] [ 20 .. 24 ] [ 25 ]  <- arrivals
        expire               whole runs, from the front

    At most about one run of ended tuples is kept. It is also the append log of a monotonic input (MON), whose tuples
    never leave. A tuple that ends before an older one, or that a negative tuple deletes, keeps its memory until the
    older ones leave. So the list does not suit count windows, whose tuples are all ended by negative tuples.
    """

    def _drop_ended(self, now: Instant) -> None:
        ended = 0
        while ended < len(self._runs) and self._runs[ended].last_end <= now:
            ended += 1
        del self._runs[:ended]


class KeyedBuffer(RunList, kind="keyed-buffer/1"):
    """The hash buffer of the negative tuple approach: tuples are deleted by key (GolabOzsu2005 §2.3.1, §5.3.2).

    For strict inputs (STR), and for all inputs in strategy NT. The dense code of a key leads to its tuples, and a hash
    of the tuple leads to the one that a negative tuple deletes. A deletion copies the ends of its run, so the length of
    runs is limited. A run is rewritten when many of its tuples have ended.
    """

    def _drop_ended(self, now: Instant) -> None:
        """Drop runs without alive tuples; rewrite runs of which many tuples have ended."""
        self._runs = [run for run in self._runs if run.last_end > now]
        shares = [run.ended_share(now) for run in self._runs]
        ended = sum(share * len(run) for share, run in zip(shares, self._runs, strict=True))
        if ended > _REWRITE_RUN_WHEN_ENDED_SHARE * len(self):
            rewritten = [
                run.alive(now) if share > _REWRITE_RUN_WHEN_ENDED_SHARE else run
                for share, run in zip(shares, self._runs, strict=True)
            ]
            self._runs = [run for run in rewritten if len(run)]
            self._merge(now)
