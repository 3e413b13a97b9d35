"""Running exact sums per group: one int64 lane per digit that has been met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Ints
from thalweg.kernel.aggregates.numbers import MASK, WIDTH, Numbers
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import Steps

_FEW = 4  # digits that are kept without asking whether they are still needed


@dataclass(frozen=True)
class Sums:
    """sum of limbs[i] * 2^(32 (i + low)) * 2^unit for each column; limbs may have any sign and exceed 32 bits."""

    limbs: npt.NDArray[np.int64]
    low: int
    unit: int


class RunningSums(Stateful, kind="exact-sums/1"):
    """Sums by code. A limb is at most 2^32 times the tuples alive, so up to 2^31 tuples of a group are exact."""

    KEPT = ("_low", "_state")

    def __init__(self) -> None:
        self._low = 0
        self._state = np.zeros((0, 16), dtype=np.int64)

    def along(self, steps: Steps, places: Ints, weight: Ints, numbers: Numbers) -> Sums:
        """The sum of each step's group from that step on, given numbers that fall on steps with a weight."""
        change = self._scatter(len(steps), places, weight * numbers.sign, numbers)
        self._fit(int(steps.code[-1]) + 1)
        for i in range(len(change)):
            change[i] = steps.running(change[i], self._state[i])
        sums = Sums(change, self._low, numbers.unit)
        self._trim()
        return sums

    def _scatter(self, steps: int, places: Ints, weight: Ints, numbers: Numbers) -> npt.NDArray[np.int64]:
        count = len(numbers.digits)
        if numbers.shift is None:
            self._cover(0, count)
            change = np.zeros((len(self._state), steps), dtype=np.int64)
            for i, digit in enumerate(numbers.digits):
                np.add.at(change[i - self._low], places, digit * weight)
            return change
        slot, shift = numbers.shift >> 5, numbers.shift & 31
        if len(slot):
            self._cover(int(slot.min()), int(slot.max()) + count + 1)
        change = np.zeros((len(self._state), steps), dtype=np.int64)
        flat = change.reshape(-1)
        at = (slot - self._low) * steps + places
        for i, digit in enumerate(numbers.digits):
            moved = digit << shift
            np.add.at(flat, at + i * steps, (moved & MASK) * weight)
            np.add.at(flat, at + (i + 1) * steps, (moved >> WIDTH) * weight)
        return change

    def _cover(self, low: int, high: int) -> None:
        """Make limbs low .. high - 1 exist."""
        if not len(self._state):
            self._low = low
        below, above = max(0, self._low - low), max(0, high - self._low - len(self._state))
        if below or above:
            self._state = np.pad(self._state, ((below, above), (0, 0)))
            self._low -= below

    def _fit(self, size: int) -> None:
        room = self._state.shape[1]
        if size > room:
            self._state = np.pad(self._state, ((0, 0), (0, max(size, 2 * room) - room)))

    def _trim(self) -> None:
        """Forget outer limbs that an outlier needed and nothing needs any more."""
        while len(self._state) > _FEW and not self._state[-1].any():
            self._state = self._state[:-1]
        while len(self._state) > _FEW and not self._state[0].any():
            self._state, self._low = self._state[1:], self._low + 1
