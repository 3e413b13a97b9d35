"""State addressed by code: growing arrays, and keys that can be had back from their codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.types import DataType
from thalweg.state.coder import KeyCoder


class ByCode:
    """One value per code, in an array that grows as codes do."""

    def __init__(self, dtype: type[np.generic], empty: Any) -> None:
        self._empty = empty
        self.values: Lane = np.full(16, empty, dtype=dtype)

    def fit(self, size: int) -> None:
        """Make room for codes below `size`."""
        if size > len(self.values):
            grown = np.full(max(size, 2 * len(self.values)), self._empty, dtype=self.values.dtype)
            grown[: len(self.values)] = self.values
            self.values = grown


class KeyTable:
    """Keys of some lanes by dense code, there and back."""

    def __init__(self, types: Sequence[DataType]) -> None:
        self._coder = KeyCoder(len(types))
        self._lanes = [ByCode(lane_dtype(type_), 0) for type_ in types]
        self._known = 0

    @property
    def size(self) -> int:
        """All codes are below."""
        return self._coder.size

    def encode(self, lanes: Sequence[Lane], rows: int) -> Ints:
        """The code of each row's key; new keys are kept."""
        codes = self._coder.encode(lanes, rows)
        if self._coder.size > self._known:
            new = np.flatnonzero(codes >= self._known)
            for kept, lane in zip(self._lanes, lanes, strict=True):
                kept.fit(self._coder.size)
                kept.values[codes[new]] = lane[new]
            self._known = self._coder.size
        return codes

    def decode(self, codes: Ints) -> tuple[Lane, ...]:
        """The keys of codes, lane by lane."""
        return tuple(kept.values[codes] for kept in self._lanes)
