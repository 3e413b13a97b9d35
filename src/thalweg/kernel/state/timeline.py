"""Rows that become due at a time: a calendar queue, the partitioned buffer of GolabOzsu2005 §5.3.2.

Rows are added as immutable runs sorted by time. The rows due up to t are a slice of each run; a run whose last row was
taken is dropped. The smaller runs are merged when there are too many.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import Run, join_runs
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful

_MERGE_ABOVE_RUNS = 12


class Timeline(Stateful, kind="timeline/1"):
    """Rows that wait until they are due; the first lane is the time at which a row is due."""

    KEPT = ("_runs", "_taken_counts")

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._taken_counts: list[int] = []  # by run: how many rows have been taken out

    def __len__(self) -> int:
        return sum(len(run[0]) for run in self._runs) - sum(self._taken_counts)

    def add(self, time: Ints, *lanes: Lane) -> None:
        """Add rows in any order."""
        if not len(time):
            return
        order = np.argsort(time, kind="stable")
        self._runs.append((time[order], *(lane[order] for lane in lanes)))
        self._taken_counts.append(0)
        if len(self._runs) > _MERGE_ABOVE_RUNS:
            self._merge()

    def due(self, until: Instant) -> Run | None:
        """Take out the rows with time <= until, in no particular order; None if there are none."""
        taken: list[Run] = []
        kept: list[tuple[Run, int]] = []
        for run, mark in zip(self._runs, self._taken_counts, strict=True):
            cut = int(np.searchsorted(run[0], until, side="right"))
            if cut > mark:
                taken.append(tuple(lane[mark:cut] for lane in run))
            if cut < len(run[0]):
                kept.append((run, max(cut, mark)))
        self._runs, self._taken_counts = [run for run, _ in kept], [mark for _, mark in kept]
        return join_runs(taken) if taken else None

    def lane(self, i: int) -> list[Lane]:
        """Run by run, one lane of the rows that wait."""
        return [run[i][mark:] for run, mark in zip(self._runs, self._taken_counts, strict=True)]

    def first(self) -> Instant:
        """The earliest time at which a row is due; FOREVER if there is no row."""
        return min(
            (int(run[0][mark]) for run, mark in zip(self._runs, self._taken_counts, strict=True)), default=FOREVER
        )

    def _merge(self) -> None:
        """Merge the smaller half of the runs, so that a row is copied a logarithmic number of times."""
        waiting = [tuple(lane[mark:] for lane in run) for run, mark in zip(self._runs, self._taken_counts, strict=True)]
        by_size = sorted(range(len(waiting)), key=lambda i: len(waiting[i][0]), reverse=True)
        keep, rest = by_size[: _MERGE_ABOVE_RUNS // 2], by_size[_MERGE_ABOVE_RUNS // 2 :]
        merged = join_runs([waiting[i] for i in rest])
        order = np.argsort(merged[0], kind="stable")
        self._runs = [*(self._runs[i] for i in keep), tuple(lane[order] for lane in merged)]
        self._taken_counts = [*(self._taken_counts[i] for i in keep), 0]
