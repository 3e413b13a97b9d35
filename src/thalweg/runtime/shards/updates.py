"""A shard's table ports: rows that a table gains and loses, each from its time on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.state.snapshot import Stateful
from thalweg.state.timeline import Timeline


class Updates(Stateful):
    """Signed rows that wait for their time. None is late: an update is as of when it became known, or later."""

    KEPT = ("_waiting",)

    def __init__(self, dated: bool) -> None:
        self._dated = dated
        self._waiting = Timeline()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, columns: Sequence[Lane], time: Ints, sign: Ints, before: Instant) -> None:
        """More updates."""
        self._waiting.add(np.maximum(time, before), sign, *columns)

    def due(self, now: Instant) -> Batch | None:
        """The updates up to and at `now`."""
        due = self._waiting.due(now)
        if due is None:
            return None
        time, sign, *columns = due
        forever = np.full(len(time), FOREVER)
        dates = Dates(np.full(len(time), BEGINNING), forever) if self._dated else None
        return Batch(tuple(columns), time, forever, sign.astype(np.int8), dates)
