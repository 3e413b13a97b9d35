"""Running moments of a group's values, and the aggregate functions that are computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg.core.lanes import NULL, Flags, Ints, Lane, is_null
from thalweg.kernel.aggregates import rounding
from thalweg.kernel.aggregates.numbers import Numbers
from thalweg.kernel.aggregates.sums import Limbs, RunningSums, Sums
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import GroupSteps, RunningCount

# The greatest power of the arguments whose sum a function needs.
POWERS = {"count": 0, "sum": 1, "avg": 1, "variance": 2, "var_pop": 2, "stddev": 2, "stddev_pop": 2}
_DEGREES_LOST = {"variance": 1, "stddev": 1, "var_pop": 0, "stddev_pop": 0}


@dataclass(frozen=True)
class Moments:
    """From each step on: the count of values, their sum, the sum of squares, and the counts of both infinities."""

    count: Ints
    sums: Sums | None
    squares: Sums | None
    above: Ints | None
    below: Ints | None

    def result(self, function: str, is_double: bool) -> Lane:
        """One aggregate function at each step."""
        match function:
            case "count":
                return self.count
            case "sum" if not is_double:
                assert self.sums is not None
                return np.where(self.count > 0, rounding.to_int(self.sums), NULL)
            case "sum":
                return self._total()
            case "avg":
                return self._total() / np.maximum(self.count, 1)
            case "variance" | "var_pop":
                return self._variance(_DEGREES_LOST[function])
            case _:
                return np.sqrt(self._variance(_DEGREES_LOST[function]))

    def _total(self) -> Lane:
        """The exact sum, rounded to a DOUBLE; NULL if there are infinities of both signs."""
        assert self.sums is not None
        total = np.where(self.count > 0, rounding.to_double(self.sums), np.nan)
        if self.above is not None and self.below is not None:
            total[self.above > 0] = np.inf
            total[self.below > 0] = -np.inf
            total[(self.above > 0) & (self.below > 0)] = np.nan
        return total

    def _variance(self, freedom: int) -> Lane:
        assert self.sums is not None and self.squares is not None
        count = np.maximum(self.count, freedom + 1)
        variance = rounding.variance(count, self.sums, self.squares, freedom)
        has_none: Flags = self.count <= freedom
        if self.above is not None and self.below is not None:
            has_none = has_none | (self.above > 0) | (self.below > 0)
        return np.where(has_none, np.nan, variance)


class MomentChanges(NamedTuple):
    """Changes of the moments, added up: of the numbers of values and of infinities, and of the sums."""

    counts: Limbs
    sums: Limbs
    squares: Limbs
    above: Limbs
    below: Limbs


class RunningMoments(Stateful, kind="moments/1"):
    """The running moments of one argument, up to some power."""

    KEPT = ("_count", "_sums", "_squares", "_infinite")

    def __init__(self, power: int) -> None:
        self._count = RunningCount()
        self._sums = RunningSums() if power > 0 else None
        self._squares = RunningSums() if power > 1 else None
        self._infinite: tuple[RunningCount, RunningCount] | None = None  # of +inf and -inf, once there is one

    def along(
        self, steps: GroupSteps, places: Ints, weight: Ints, lane: Lane, more: MomentChanges | None = None
    ) -> Moments:
        """The moments from each step on, given values with the steps and weights of their changes.

        NULLs do not count. `more` are changes that have been added up before.
        """
        missing = is_null(lane)
        if missing.any():
            kept = np.flatnonzero(~missing)
            places, weight, lane = places[kept], weight[kept], lane[kept]
        count = self._count.along(steps, *_with(places, weight, more and more.counts))
        if self._sums is None:
            return Moments(count, None, None, None, None)
        above, below = self._infinities(steps, places, weight, lane, more)
        if above is not None:
            finite = np.flatnonzero(np.isfinite(lane))
            places, weight, lane = places[finite], weight[finite], lane[finite]
        numbers = Numbers.of(lane)
        sums = self._sums.along(steps, places, weight, numbers, more and more.sums)
        squares = None
        if self._squares is not None:
            squares = self._squares.along(steps, places, weight, numbers.squared(), more and more.squares)
        return Moments(count, sums, squares, above, below)

    def _infinities(
        self, steps: GroupSteps, places: Ints, weight: Ints, lane: Lane, more: MomentChanges | None
    ) -> tuple[Ints | None, Ints | None]:
        if self._infinite is None and _has_infinities(lane, more):
            self._infinite = (RunningCount(), RunningCount())
        if self._infinite is None:
            return None, None
        above, below = np.flatnonzero(lane == np.inf), np.flatnonzero(lane == -np.inf)
        return (
            self._infinite[0].along(steps, *_with(places[above], weight[above], more and more.above)),
            self._infinite[1].along(steps, *_with(places[below], weight[below], more and more.below)),
        )


def _has_infinities(lane: Lane, more: MomentChanges | None) -> bool:
    if more is not None and (len(more.above.amount) or len(more.below.amount)):
        return True
    return lane.dtype == np.float64 and bool(np.isinf(lane).any())


def _with(places: Ints, weight: Ints, more: Limbs | None) -> tuple[Ints, Ints]:
    if more is None:
        return places, weight
    return np.concatenate([places, more.places]), np.concatenate([weight, more.amount])
