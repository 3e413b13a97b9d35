"""What an operator shows of each group now, and the signed intervals that tell how it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Signs
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.state.buffers import GroupArray
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.segments import run_starts
from thalweg.kernel.sweep.steps import Steps


@dataclass(frozen=True)
class Changes:
    """Signed intervals of groups, by code, with what is shown of them."""

    code: Ints
    start: Ints
    end: Ints
    sign: Signs
    lanes: tuple[Lane, ...]


class Shown(Stateful, kind="shown-rows/1"):
    """Per code: whether the group is shown, and the values shown with it, in an array by group.

    What ends within the batch is closed at once: +[a, b). What lasts is +[a, FOREVER), and -[b, FOREVER) ends it later.
    """

    KEPT = ("_array",)

    def __init__(self, types: Sequence[DataType] = ()) -> None:
        self._array = GroupArray(types)

    @property
    def size(self) -> int:
        """How many groups are shown."""
        return len(self._array)

    def has(self, codes: Ints) -> Flags:
        """Which groups are shown."""
        return self._array.present[codes]

    def change(self, steps: Steps, present: Flags, lanes: Sequence[Lane] = ()) -> Changes:
        """The changes that make the given values hold from each step on; there must be a step."""
        self._array.fit(int(steps.code[-1]) + 1)
        was_present = steps.previous(present, self._array.present)
        differs = np.zeros(len(steps), dtype=np.bool_)
        for lane, shown in zip(lanes, self._array.lanes, strict=True):
            differs |= _bits(lane) != _bits(steps.previous(lane, shown))
        rows = np.flatnonzero((present != was_present) | (differs & present))
        changes = self._tell(steps, rows, present, lanes)
        last = steps.stop - 1
        self._array.overwrite(steps.groups, present[last], [lane[last] for lane in lanes])
        return changes

    def no_change(self) -> Changes:
        """Nothing is told."""
        none = np.empty(0, dtype=np.int64)
        lanes = tuple(np.empty(0, dtype=shown.dtype) for shown in self._array.lanes)
        return Changes(none, none, none, np.empty(0, dtype=np.int8), lanes)

    def _tell(self, steps: Steps, rows: Ints, present: Flags, lanes: Sequence[Lane]) -> Changes:
        code, start = steps.code[rows], steps.time[rows]
        starts = run_starts(code)
        end = np.full(len(rows), FOREVER)
        end[:-1] = np.where(starts[1:], FOREVER, start[1:])
        first = np.flatnonzero(starts)
        old = first[self._array.present[code[first]]]  # of what was shown, the first change is the end
        new = np.flatnonzero(present[rows])
        signs = np.repeat(np.array([-1, 1], dtype=np.int8), (len(old), len(new)))
        both = zip(lanes, self._array.lanes, strict=True)
        return Changes(
            np.concatenate([code[old], code[new]]),
            np.concatenate([start[old], start[new]]),
            np.concatenate([np.full(len(old), FOREVER), end[new]]),
            signs,
            tuple(np.concatenate([shown[code[old]], lane[rows[new]]]) for lane, shown in both),
        )


def _bits(lane: Lane) -> Ints:
    """Comparable also where a DOUBLE is NULL."""
    bits: Ints = lane.view(np.int64)
    return bits
