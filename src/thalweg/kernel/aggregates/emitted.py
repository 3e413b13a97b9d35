"""The rows of groups that are in the answer, and the signed intervals of their changes."""

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
from thalweg.kernel.sweep.steps import GroupSteps


@dataclass(frozen=True)
class GroupChanges:
    """Signed intervals of groups, given by code, with the values of their rows."""

    code: Ints
    start: Ints
    end: Ints
    sign: Signs
    lanes: tuple[Lane, ...]


class EmittedGroups(Stateful, kind="shown-rows/1"):
    """By group code whether the group is in the answer, and its values (an array by group).

    A row that ends within the batch is emitted as +[a, b). A row that outlives it is emitted as +[a, FOREVER), and
    -[b, FOREVER) ends it later.
    """

    KEPT = ("_array",)

    def __init__(self, types: Sequence[DataType] = ()) -> None:
        self._array = GroupArray(types)

    @property
    def size(self) -> int:
        """The number of groups in the answer."""
        return len(self._array)

    def has(self, codes: Ints) -> Flags:
        """Which groups are in the answer."""
        return self._array.present[codes]

    def change(self, steps: GroupSteps, present: Flags, lanes: Sequence[Lane] = ()) -> GroupChanges:
        """The changes of the answer, given the values from each step on; there must be a step."""
        self._array.fit(int(steps.code[-1]) + 1)
        was_present = steps.previous(present, self._array.present)
        differs = np.zeros(len(steps), dtype=np.bool_)
        for lane, last in zip(lanes, self._array.lanes, strict=True):
            differs |= _bits(lane) != _bits(steps.previous(lane, last))
        rows = np.flatnonzero((present != was_present) | (differs & present))
        changes = self._changes(steps, rows, present, lanes)
        final = steps.stop - 1
        self._array.overwrite(steps.groups, present[final], [lane[final] for lane in lanes])
        return changes

    def no_change(self) -> GroupChanges:
        """No changes."""
        none = np.empty(0, dtype=np.int64)
        lanes = tuple(np.empty(0, dtype=lane.dtype) for lane in self._array.lanes)
        return GroupChanges(none, none, none, np.empty(0, dtype=np.int8), lanes)

    def _changes(self, steps: GroupSteps, rows: Ints, present: Flags, lanes: Sequence[Lane]) -> GroupChanges:
        code, start = steps.code[rows], steps.time[rows]
        starts = run_starts(code)
        end = np.full(len(rows), FOREVER)
        end[:-1] = np.where(starts[1:], FOREVER, start[1:])
        first = np.flatnonzero(starts)
        old = first[self._array.present[code[first]]]  # the first change of a group in the answer ends its row
        new = np.flatnonzero(present[rows])
        signs = np.repeat(np.array([-1, 1], dtype=np.int8), (len(old), len(new)))
        both = zip(lanes, self._array.lanes, strict=True)
        return GroupChanges(
            np.concatenate([code[old], code[new]]),
            np.concatenate([start[old], start[new]]),
            np.concatenate([np.full(len(old), FOREVER), end[new]]),
            signs,
            tuple(np.concatenate([last[code[old]], lane[rows[new]]]) for lane, last in both),
        )


def _bits(lane: Lane) -> Ints:
    """Integers that are equal iff the values are, also if a DOUBLE is NULL (NaN)."""
    bits: Ints = lane.view(np.int64)
    return bits
