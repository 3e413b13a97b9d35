"""A group's source ports: tuples ahead of the query's time wait, tuples behind it are late and kept aside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import Run, join_runs
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.timeline import Timeline


class Arrivals(Stateful, kind="arrivals/1"):
    """Tuples of one source, in order of (ts, arrival). In each batch first `add`, then `due`."""

    KEPT = ("_waiting", "_count")

    def __init__(self, dated: bool) -> None:
        self._dated = dated
        self._new: list[Run] = []  # of this batch, as they came
        self._waiting = Timeline()
        self._count = 0  # how many have ever come: the order of ties

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, columns: Sequence[Lane], ts: Lane, before: Instant) -> Batch | None:
        """More tuples; those behind `before` are given back."""
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
        if due is None and new[0].max() <= now:  # nearly always; the order in which they came needs no lane
            return self._in_order(new[0], None, *new[1:])
        order = np.arange(self._count - len(new[0]), self._count)
        soon, later = new[0] <= now, new[0] > now
        self._waiting.add(new[0][later], order[later], *(lane[later] for lane in new[1:]))
        parts = [(new[0][soon], order[soon], *(lane[soon] for lane in new[1:])), *([] if due is None else [due])]
        joined = join_runs(parts)
        return self._in_order(*joined) if len(joined[0]) else None

    def _taken(self) -> Run | None:
        """What is new. Nothing of it stays in the files that it came in: they are mapped, and soon removed."""
        new, self._new = self._new, []
        if not new:
            return None
        self._count += sum(len(run[0]) for run in new)
        return tuple(lane.copy() for lane in new[0]) if len(new) == 1 else join_runs(new)

    def _in_order(self, ts: Lane, order: Lane | None, *columns: Lane) -> Batch:
        if order is not None:
            rows: Ints | slice = np.lexsort((order, ts))
        else:
            rows = slice(None) if (ts[1:] >= ts[:-1]).all() else np.argsort(ts, kind="stable")
        return Batch.of_arrivals([lane[rows] for lane in columns], ts[rows], self._dated)
