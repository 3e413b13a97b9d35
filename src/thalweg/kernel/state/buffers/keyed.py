"""The hash buffer of the negative tuple approach: tuples are deleted by key. GolabOzsu2005 §2.3.1, §5.3.2.

For strict inputs (STR), and for all inputs in strategy NT. The dense code of a key leads to its tuples, and a hash of
the tuple leads to the one that a negative tuple deletes. A run is rewritten when many of its tuples have ended.
"""

from __future__ import annotations

from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.run_list import RunList

# Then a probe meets few ended tuples, and a tuple is copied few times.
_REWRITE_RUN_WHEN_ENDED_SHARE = 0.25


class KeyedBuffer(RunList, kind="keyed-buffer/1"):
    """Runs that lose tuples anywhere. A deletion copies the ends of its run, so the length of runs is limited."""

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
