"""Running exact sums of groups: one int64 lane for each digit that has occurred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Ints
from thalweg.kernel.aggregates.numbers import Numbers
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import GroupSteps

_KEEP_LIMBS = 4  # even if they are zero for all groups


@dataclass(frozen=True)
class Sums:
    """For each column the sum of limbs[i] * 2^(32 (i + low)) * 2^unit; a limb may be negative and exceed 32 bits."""

    limbs: npt.NDArray[np.int64]
    low: int
    unit: int


class Limbs(NamedTuple):
    """Parts of sums, each in its place: amount * 2^(32 slot) * 2^unit."""

    places: Ints
    slot: Ints
    amount: Ints


class RunningSums(Stateful, kind="exact-sums/1"):
    """Sums by group code. A limb is at most 2^32 times the alive tuples, so groups of up to 2^31 tuples are exact."""

    KEPT = ("_lowest_limb", "_limbs")

    def __init__(self) -> None:
        self._lowest_limb = 0
        self._limbs = np.zeros((0, 16), dtype=np.int64)

    def along(self, steps: GroupSteps, places: Ints, weight: Ints, numbers: Numbers, more: Limbs | None = None) -> Sums:
        """The sum of each step's group from the step on, given numbers with the steps and weights of their changes.

        `more` are changes that have been added up before.
        """
        self._cover(*numbers.slots())
        if more is not None and len(more.slot):
            self._cover(int(more.slot.min()), int(more.slot.max()) + 1)
        change = np.zeros((len(self._limbs), len(steps)), dtype=np.int64)
        scatter(change, self._lowest_limb, places, weight, numbers)
        if more is not None:
            np.add.at(change, (more.slot - self._lowest_limb, more.places), more.amount)
        self._fit(int(steps.code[-1]) + 1)
        for i in range(len(change)):
            change[i] = steps.running(change[i], self._limbs[i])
        sums = Sums(change, self._lowest_limb, numbers.unit)
        self._trim()
        return sums

    def _cover(self, low: int, high: int) -> None:
        """Extend the limbs to cover low .. high - 1."""
        if low == high:
            return
        if not len(self._limbs):
            self._lowest_limb = low
        below, above = max(0, self._lowest_limb - low), max(0, high - self._lowest_limb - len(self._limbs))
        if below or above:
            self._limbs = np.pad(self._limbs, ((below, above), (0, 0)))
            self._lowest_limb -= below

    def _fit(self, size: int) -> None:
        room = self._limbs.shape[1]
        if size > room:
            self._limbs = np.pad(self._limbs, ((0, 0), (0, max(size, 2 * room) - room)))

    def _trim(self) -> None:
        """Drop outer limbs that only a value that has left needed."""
        while len(self._limbs) > _KEEP_LIMBS and not self._limbs[-1].any():
            self._limbs = self._limbs[:-1]
        while len(self._limbs) > _KEEP_LIMBS and not self._limbs[0].any():
            self._limbs, self._lowest_limb = self._limbs[1:], self._lowest_limb + 1


def scatter(into: npt.NDArray[np.int64], lowest: int, places: Ints, weight: Ints, numbers: Numbers) -> None:
    """Add weighted numbers to the columns `places` of a matrix with a row for each slot from the lowest on."""
    flat, columns = into.reshape(-1), into.shape[1]
    for slot, amount in numbers.limbs(weight):
        np.add.at(flat, (slot - lowest) * columns + places, amount)
