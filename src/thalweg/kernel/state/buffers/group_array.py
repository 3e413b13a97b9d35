"""The array by group of GolabOzsu2005 §5.3.2: a group's new value overwrites its old value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane, lane_dtype
from thalweg.core.types import DataType
from thalweg.kernel.state.snapshot import Stateful

_FIRST_SLOTS = 16


class GroupArray(Stateful, kind="group-array/1"):
    """One slot per dense group code: whether the group exists, and its values."""

    KEPT = ("present", "lanes", "_size")

    def __init__(self, types: Sequence[DataType] = ()) -> None:
        self.present: Flags = np.zeros(_FIRST_SLOTS, dtype=np.bool_)
        self.lanes: list[Lane] = [np.zeros(_FIRST_SLOTS, dtype=lane_dtype(type_)) for type_ in types]
        self._size = 0

    def __len__(self) -> int:
        """The number of groups that exist."""
        return self._size

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return self.present.nbytes + sum(lane.nbytes for lane in self.lanes)

    def fit(self, size: int) -> None:
        """Make room for codes below `size`."""
        more = max(size, 2 * len(self.present)) - len(self.present)
        if size > len(self.present):
            self.present = np.pad(self.present, (0, more))
            self.lanes = [np.pad(lane, (0, more)) for lane in self.lanes]

    def overwrite(self, codes: Ints, present: Flags, lanes: Sequence[Lane]) -> None:
        """Set the slots of some groups; the codes must differ, and `fit` must have made room for them."""
        self._size += int(np.count_nonzero(present)) - int(np.count_nonzero(self.present[codes]))
        self.present[codes] = present
        for own, lane in zip(self.lanes, lanes, strict=True):
            own[codes] = lane
