"""Result counts, checked against quotas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, SECOND, Clock, Instant
from thalweg.flows.standing import Quotas, Standing

_NO_LIMIT = Quotas()


@dataclass
class ResultCounts:
    """How many results (positive tuples) a query has emitted: in all, and in its latest second (or tick)."""

    results: int = 0
    second: Instant = BEGINNING
    in_second: int = 0

    def count(self, gained: Batch, standing: Standing) -> str | None:
        """Count more output; the text of the exceeded quota, or None."""
        if standing.quotas == _NO_LIMIT:
            self.results += int(np.count_nonzero(gained.sign > 0))
            return None
        starts = gained.start[gained.sign > 0]
        self.results += len(starts)
        ticks = SECOND if standing.plan.clock is Clock.TIMESTAMPS else 1
        seconds, counts = np.unique(starts // ticks, return_counts=True)
        most = self._most_in_a_second(seconds, counts)
        return _exceeded(standing.quotas, self.results, most, "second" if ticks > 1 else "tick")

    def _most_in_a_second(self, seconds: np.ndarray, counts: np.ndarray) -> int:
        """The largest count of a second; these results may continue the latest one."""
        if not len(seconds):
            return 0
        counts = counts + np.where(seconds == self.second, self.in_second, 0)
        self.second, self.in_second = int(seconds[-1]), int(counts[-1])
        return int(counts.max())


def _exceeded(quotas: Quotas, results: int, in_second: int, unit: str) -> str | None:
    if quotas.results is not None and results > quotas.results:
        return f"it has emitted {results} results, its quota is {quotas.results} in all"
    if quotas.results_per_second is not None and in_second > quotas.results_per_second:
        return f"it has emitted {in_second} results in one {unit}, its quota is {quotas.results_per_second}"
    return None
