"""Tuples as events: the sweeping operators see starts and ends, one by one."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.state.timeline import Timeline


class Ends(Stateful, kind="ends/1"):
    """Each tuple adds its weight where it starts and takes it back where it ends. Ends that are not due wait."""

    KEPT = ("_pending", "_pending_counts")

    def __init__(self) -> None:
        self._pending = Timeline()
        self._pending_counts = ByCode(np.int64, 0)  # by code: the ends that wait

    def __len__(self) -> int:
        return len(self._pending)

    def is_idle(self, codes: Ints) -> Flags:
        """Where no end waits for a code."""
        self._pending_counts.fit(int(codes.max(initial=0)) + 1)
        return np.equal(self._pending_counts.values[codes], 0)

    def events(self, start: Ints, end: Ints, weight: Ints, lanes: tuple[Lane, ...], now: Instant) -> tuple[Lane, ...]:
        """What happens up to `now`: times, weights, and the lanes that the tuples came with; codes first."""
        soon = np.flatnonzero(end <= now)
        later = np.flatnonzero((end > now) & (end < FOREVER))
        due = self._pending.due(now)
        self._pending.add(end[later], -weight[later], *(lane[later] for lane in lanes))
        self._count(lanes[0][later], due)
        parts = [(start, weight, *lanes)]
        if len(soon):
            parts.append((end[soon], -weight[soon], *(lane[soon] for lane in lanes)))
        if due is not None:
            parts.append(due)
        return parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))

    def _count(self, added: Ints, due: tuple[Lane, ...] | None) -> None:
        if len(added):
            self._pending_counts.fit(int(added.max()) + 1)
            np.add.at(self._pending_counts.values, added, 1)
        if due is not None:
            np.subtract.at(self._pending_counts.values, due[2], 1)
