"""The staircase: of values with known ends, those that may still become the best of their group.

A value that ends no later than a better value is never the best. The remaining values of a group descend as their ends
ascend: the first stair is the best value now, and when it ends, the next one is. Runs are sorted by (group, end) and
merged geometrically.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import NULL, Ints
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.aggregates.heads import Heads
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.sweep.maxima import maxima_so_far
from thalweg.kernel.sweep.ordering import order_by, stable_order
from thalweg.kernel.sweep.segments import run_starts


class StaircaseRun(Stateful, kind="staircase-run/1"):
    """Stairs sorted by (group, end), and their order by end; the first `ended` stairs in that order have ended."""

    KEPT = ("stairs", "ended")

    def __init__(self, code: Ints, end: Ints, raw: Ints) -> None:
        """The stairs must be sorted."""
        self.ended = 0
        self._lay_out((code, end, raw))

    def _lay_out(self, stairs: tuple[Ints, Ints, Ints]) -> None:
        self.stairs = stairs  # immutable
        self.code, self.end, self.raw = stairs
        by_end = stable_order(self.end)
        self.by_end = by_end[: int(np.searchsorted(self.end[by_end], FOREVER))]
        self.ends = self.end[self.by_end]
        self.heads = Heads(self.code)

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot: the heads follow from the number of ended stairs."""
        super().restore(tree)
        self._lay_out(self.stairs)
        self.heads.advance(self.code[self.by_end[: self.ended]])

    def __len__(self) -> int:
        return len(self.code) - self.ended

    def expire(self, now: Instant) -> Ints:
        """Remove the stairs that end by `now`, and return their rows."""
        cut = int(np.searchsorted(self.ends, now, side="right"))
        rows = self.by_end[self.ended : cut]
        self.ended = max(self.ended, cut)
        self.heads.advance(self.code[rows])
        return rows

    def alive(self) -> tuple[Ints, Ints, Ints]:
        """The codes, ends and raws of the stairs that have not ended."""
        kept = self.heads.ahead()
        return self.code[kept], self.end[kept], self.raw[kept]


class Staircase(Stateful, kind="staircase/1"):
    """The best value of each group, over values with known ends."""

    KEPT = ("_runs", "_best_raw", "_best_end", "_now")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._runs: list[StaircaseRun] = []
        self._best_raw = ByCode(np.int64, NULL)  # by group
        self._best_end = ByCode(np.int64, BEGINNING)  # by group: the end of the best value
        self._now: Instant = BEGINNING

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def expire(self, now: Instant) -> tuple[Ints, Ints, Ints]:
        """Remove the stairs that end by `now`, and return their codes, ends and raws."""
        self._now = now
        found = [(run, run.expire(now)) for run in self._runs]
        self._runs = [run for run in self._runs if len(run)]
        none = np.empty(0, dtype=np.int64)
        return (
            np.concatenate([none, *(run.code[rows] for run, rows in found)]),
            np.concatenate([none, *(run.end[rows] for run, rows in found)]),
            np.concatenate([none, *(run.raw[rows] for run, rows in found)]),
        )

    def best(self, codes: Ints) -> Ints:
        """The best raw of each group, NULL if it has no value; codes must differ."""
        self._fit(codes)
        stale = codes[self._best_end.values[codes] <= self._now]
        stale = stale[self._best_raw.values[stale] != NULL]
        if len(stale):
            self._best_raw.values[stale], self._best_end.values[stale] = self._look_up(stale)
        return self._best_raw.values[codes]

    def add(self, code: Ints, end: Ints, raw: Ints) -> None:
        """Add values that have not ended; raws must not be NULL."""
        if not len(code):
            return
        run = self._stairs(code, end, raw)
        first = np.flatnonzero(run_starts(run.code))
        groups, raw, end = run.code[first], run.raw[first], run.end[first]
        old = self.best(groups)
        scale = self._order.scale(np.concatenate([old, raw]))
        better = scale.keys(raw) >= scale.keys(old)
        self._best_raw.values[groups[better]], self._best_end.values[groups[better]] = raw[better], end[better]
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._merge()

    def _look_up(self, codes: Ints) -> tuple[Ints, Ints]:
        raws = np.full((len(self._runs) + 1, len(codes)), NULL)
        ends = np.full_like(raws, BEGINNING)
        for i, run in enumerate(self._runs):
            hit, stair = run.heads.find(codes)
            raws[i, hit], ends[i, hit] = run.raw[stair], run.end[stair]
        keys = self._order.scale(raws.reshape(-1)).keys(raws.reshape(-1)).reshape(raws.shape)
        choice = (np.argmax(keys, axis=0), np.arange(len(codes)))
        return raws[choice], ends[choice]

    def _merge(self) -> None:
        """Merge the last two runs."""
        alive = [run.alive() for run in self._runs[-2:]]
        self._runs[-2:] = [self._stairs(*map(np.concatenate, zip(*alive, strict=True)))]

    def _stairs(self, code: Ints, end: Ints, raw: Ints) -> StaircaseRun:
        """A run of the values that no better value of their group outlives."""
        order = order_by(code, end)[::-1]  # the last to end first
        code, end, raw = code[order], end[order], raw[order]
        keys = self._order.scale(raw).keys(raw)
        starts = run_starts(code)
        beaten = np.empty_like(keys)
        beaten[1:] = maxima_so_far(keys, starts)[:-1]
        beaten[starts] = NULL
        kept = np.flatnonzero(keys > beaten)[::-1]
        return StaircaseRun(code[kept], end[kept], raw[kept])

    def _fit(self, codes: Ints) -> None:
        if len(codes):
            size = int(codes.max()) + 1
            self._best_raw.fit(size)
            self._best_end.fit(size)
