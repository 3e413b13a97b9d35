"""Tuples of a stream that wait for the query's clock; tuples behind it are late, and go to a side output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Lane
from thalweg.core.runs import Run, join_runs
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.timeline import Timeline


class Arrivals(Stateful, kind="arrivals/1"):
    """Tuples of one source, in order of (ts, arrival). In each batch first `add`, then `due`."""

    KEPT = ("_waiting", "_count")

    def __init__(self, dated: bool) -> None:
        self._dated = dated
        self._new: list[Run] = []  # of this batch, in order of arrival
        self._waiting = Timeline()
        self._count = 0  # tuples so far, which orders those of one instant

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, columns: Sequence[Lane], ts: Lane, before: Instant) -> Batch | None:
        """Add tuples; the late ones, with a time before `before`, are returned instead."""
        late = ts < before
        if not late.any():
            self._new.append((ts, *columns))
            return None
        kept = ~late
        self._new.append((ts[kept], *(lane[kept] for lane in columns)))
        return Batch.of_arrivals([lane[late] for lane in columns], ts[late])

    def due(self, now: Instant) -> Batch | None:
        """The tuples up to and at `now`, in order."""
        new, due = self._taken(), self._waiting.due(now)
        if new is None or not len(new[0]):
            return None if due is None else self._in_order(*due)
        ts, *columns = new
        if due is None and ts.max() <= now:  # nearly always: the order of arrival needs no lane
            if (ts[1:] >= ts[:-1]).all():
                return Batch.of_arrivals(columns, ts, self._dated)
            rows = np.argsort(ts, kind="stable")
            return Batch.of_arrivals([lane[rows] for lane in columns], ts[rows], self._dated)
        order = np.arange(self._count - len(new[0]), self._count)
        soon, later = new[0] <= now, new[0] > now
        self._waiting.add(new[0][later], order[later], *(lane[later] for lane in new[1:]))
        parts = [(new[0][soon], order[soon], *(lane[soon] for lane in new[1:])), *([] if due is None else [due])]
        joined = join_runs(parts)
        return self._in_order(*joined) if len(joined[0]) else None

    def _taken(self) -> Run | None:
        """The tuples of this batch, copied: the files that they are mapped from are soon removed."""
        new, self._new = self._new, []
        if not new:
            return None
        self._count += sum(len(run[0]) for run in new)
        return tuple(lane.copy() for lane in new[0]) if len(new) == 1 else join_runs(new)

    def _in_order(self, ts: Lane, order: Lane, *columns: Lane) -> Batch:
        rows = np.lexsort((order, ts))
        return Batch.of_arrivals([lane[rows] for lane in columns], ts[rows], self._dated)
