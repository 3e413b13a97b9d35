"""A group's source ports: tuples ahead of the query's time wait, tuples behind it are late and kept aside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Lane
from thalweg.core.time import Instant
from thalweg.state.snapshot import Stateful
from thalweg.state.timeline import Timeline


class Arrivals(Stateful):
    """Tuples of one source, in order of (ts, arrival)."""

    KEPT = ("_waiting", "_count")

    def __init__(self, dated: bool) -> None:
        self._dated = dated
        self._waiting = Timeline()
        self._count = 0  # how many have ever come: the order of ties

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, columns: Sequence[Lane], ts: Lane, before: Instant) -> Batch | None:
        """More tuples; those behind `before` are given back."""
        late = ts < before
        kept = ~late
        order = np.arange(self._count, self._count + len(ts))
        self._count += len(ts)
        self._waiting.add(ts[kept], order[kept], *(lane[kept] for lane in columns))
        if not late.any():
            return None
        return Batch.of_arrivals([lane[late] for lane in columns], ts[late])

    def due(self, now: Instant) -> Batch | None:
        """The tuples up to and at `now`, in order."""
        due = self._waiting.due(now)
        if due is None:
            return None
        ts, order, *columns = due
        rows = np.lexsort((order, ts)) if len(ts) > 1 and not _in_order(ts, order) else slice(None)
        return Batch.of_arrivals([lane[rows] for lane in columns], ts[rows], self._dated)


def _in_order(ts: Lane, order: Lane) -> bool:
    later = ts[1:] > ts[:-1]
    return bool((later | ((ts[1:] == ts[:-1]) & (order[1:] > order[:-1]))).all())
