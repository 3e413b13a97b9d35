"""What is due later: rows of lanes, taken out in order of time. The partitioned buffer of seed 000, section 5.3.2.

Rows are appended as runs sorted by time. Taking out what is due up to t cuts a prefix off each run; a run whose last
row is due is dropped whole. Small runs are merged when there are too many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import Instant

_MOST_RUNS = 12


class Timeline:
    """Rows that wait for their time; the first lane is the time."""

    def __init__(self) -> None:
        self._runs: list[tuple[Lane, ...]] = []

    def __len__(self) -> int:
        return sum(len(run[0]) for run in self._runs)

    def add(self, time: Ints, *lanes: Lane) -> None:
        """More rows, in any order."""
        if not len(time):
            return
        order = np.argsort(time, kind="stable")
        self._runs.append((time[order], *(lane[order] for lane in lanes)))
        if len(self._runs) > _MOST_RUNS:
            self._merge()

    def due(self, until: Instant) -> tuple[Lane, ...] | None:
        """The rows with time <= until, taken out; None if there are none. They are not sorted."""
        taken: list[tuple[Lane, ...]] = []
        kept: list[tuple[Lane, ...]] = []
        for run in self._runs:
            cut = int(np.searchsorted(run[0], until, side="right"))
            if cut:
                taken.append(tuple(lane[:cut] for lane in run))
            if cut < len(run[0]):
                kept.append(tuple(lane[cut:] for lane in run))
        self._runs = kept
        return join_runs(taken) if taken else None

    def _merge(self) -> None:
        """The smaller half of the runs becomes one, so that a row is copied a logarithmic number of times."""
        self._runs.sort(key=lambda run: len(run[0]), reverse=True)
        keep = _MOST_RUNS // 2
        merged = join_runs(self._runs[keep:])
        order = np.argsort(merged[0], kind="stable")
        self._runs[keep:] = [tuple(lane[order] for lane in merged)]


def join_runs(runs: Sequence[tuple[Lane, ...]]) -> tuple[Lane, ...]:
    """Runs one behind the other."""
    return runs[0] if len(runs) == 1 else tuple(np.concatenate(lanes) for lanes in zip(*runs, strict=True))
