"""The array by group of GolabOzsu2005 §5.3.2: a group's new value overwrites the one it replaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane, lane_dtype
from thalweg.core.types import DataType
from thalweg.kernel.state.snapshot import Stateful

_ROOM = 16


class GroupArray(Stateful, kind="group-array/1"):
    """One slot per dense group code: whether the group is there, and the values that go with it."""

    KEPT = ("present", "lanes", "_size")

    def __init__(self, types: Sequence[DataType] = ()) -> None:
        self.present: Flags = np.zeros(_ROOM, dtype=np.bool_)
        self.lanes: list[Lane] = [np.zeros(_ROOM, dtype=lane_dtype(type_)) for type_ in types]
        self._size = 0

    def __len__(self) -> int:
        """How many groups are there."""
        return self._size

    @property
    def nbytes(self) -> int:
        """The memory that the slots take."""
        return self.present.nbytes + sum(lane.nbytes for lane in self.lanes)

    def fit(self, size: int) -> None:
        """Make room for codes below `size`."""
        more = max(size, 2 * len(self.present)) - len(self.present)
        if size > len(self.present):
            self.present = np.pad(self.present, (0, more))
            self.lanes = [np.pad(lane, (0, more)) for lane in self.lanes]

    def overwrite(self, codes: Ints, present: Flags, lanes: Sequence[Lane]) -> None:
        """What holds of some groups from now on; codes differ, and there is room for them."""
        self._size += int(np.count_nonzero(present)) - int(np.count_nonzero(self.present[codes]))
        self.present[codes] = present
        for own, lane in zip(self.lanes, lanes, strict=True):
            own[codes] = lane
