"""The buffer of the negative tuple approach: tuples found by key, whenever they go. GolabOzsu2005 §2.3.1, 5.3.2.

For strict inputs (STR), and for all in strategy NT. A key's dense code leads to its tuples, and a hash of the tuple to
the one that a negative tuple deletes. Where lifetimes differ, a run is rewritten once much of it has ended.
"""

from __future__ import annotations

from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.run_list import RunList

# Runs are rewritten when this share of all has ended: a probe meets few dead tuples, a tuple is copied few times.
_TOO_MANY = 0.25


class KeyedBuffer(RunList, kind="keyed-buffer/1"):
    """Runs that lose tuples anywhere. To delete from one copies its ends, so none is too large a share."""

    def _forget(self, now: Instant) -> None:
        """Whole runs, and parts of runs where that is worth it."""
        self._runs = [run for run in self._runs if run.last_end > now]
        ended = [run.ended_share(now) for run in self._runs]
        if sum(share * len(run) for share, run in zip(ended, self._runs, strict=True)) > _TOO_MANY * len(self):
            parts = [run.alive(now) if share > _TOO_MANY else run for share, run in zip(ended, self._runs, strict=True)]
            self._runs = [run for run in parts if len(run)]
            self._merge(now)
