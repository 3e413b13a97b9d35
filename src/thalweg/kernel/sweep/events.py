"""Tuples as events: each adds its sign where it starts and takes it back where it ends."""

from __future__ import annotations

import numpy as np

from thalweg.core.batch import Signs
from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import join_runs
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.timeline import Timeline


class Events(Stateful, kind="events/1"):
    """Turns tuples into events; ends that lie ahead wait with their lanes."""

    KEPT = ("_pending",)

    def __init__(self) -> None:
        self._pending = Timeline()

    def __len__(self) -> int:
        return len(self._pending)

    def of(
        self,
        start: Ints,
        end: Ints,
        sign: Signs,
        lanes: tuple[Lane, ...],
        now: Instant,
        until: Ints | Instant = FOREVER,
    ) -> tuple[Lane, ...]:
        """What happens up to `now`: times, weights, and the tuples' lanes. An end at or after `until` is no event."""
        weight = sign.astype(np.int64)
        ending = np.flatnonzero(end < until)
        self._pending.add(end[ending], -weight[ending], *(lane[ending] for lane in lanes))
        due = self._pending.due(now)
        begun = (start, weight, *lanes)
        return begun if due is None else join_runs([begun, due])
