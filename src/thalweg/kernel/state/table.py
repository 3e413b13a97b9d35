"""State by code: arrays that grow with the codes, and a table that turns keys into codes and codes into keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.lanes import NULL, Ints, Lane, identity, lane_dtype
from thalweg.core.types import DataType
from thalweg.kernel.state.coder import LaneCoder
from thalweg.kernel.state.hashing import HashTable
from thalweg.kernel.state.snapshot import Stateful, Tree

_PLAIN_TABLE_UP_TO_RANGE = 1 << 20  # from the least to the greatest key; a plain table of this size is not large


class ByCode(Stateful, kind="by-code/1"):
    """One value per code, in an array that grows with the codes."""

    KEPT = ("values", "_empty")

    def __init__(self, dtype: type[np.generic], empty: Any) -> None:
        self._empty = empty
        self.values: Lane = np.full(16, empty, dtype=dtype)

    def fit(self, size: int) -> None:
        """Make room for codes below `size`."""
        if size > len(self.values):
            grown = np.full(max(size, 2 * len(self.values)), self._empty, dtype=self.values.dtype)
            grown[: len(self.values)] = self.values
            self.values = grown


class KeyTable(Stateful, kind="key-table/1"):
    """A dense code for each key of one or more lanes, and back. A released code is given to another key later."""

    KEPT = ("_bounds",)
    ADDED = ("keys", "free", "size", "narrow")

    def __init__(self, types: Sequence[DataType]) -> None:
        self._types = tuple(types)
        self._lanes = [ByCode(np.int64, 0) for _ in types]  # by code: the keys, as `identity` gives them
        self._narrow = LaneCoder() if len(types) == 1 else None
        self._bounds = (2**63 - 1, -(2**63))  # the least and the greatest key so far
        self._hash = HashTable(max(1, len(types)))
        self._place = ByCode(np.int64, 0)

    @property
    def size(self) -> int:
        """Every code is below it."""
        if not self._types:
            return 1
        return self._hash.size if self._narrow is None else self._narrow.size

    def encode(self, lanes: Sequence[Lane], rows: int) -> Ints:
        """The code of each row's key; new keys get new codes. A key without lanes has code 0."""
        if not self._types or not rows:
            return np.zeros(rows, dtype=np.int64)
        keys = [identity(lane) for lane in lanes]
        if self._narrow is not None and not self._is_narrow(keys[0]):
            self._hash.adopt([kept.values for kept in self._lanes], self._narrow.size)
            self._narrow = None
        codes = self._hash.encode(keys) if self._narrow is None else self._narrow.encode(keys[0])
        for kept, key in zip(self._lanes, keys, strict=True):
            kept.fit(self.size)
            kept.values[codes] = key
        return codes

    def decode(self, codes: Ints) -> tuple[Lane, ...]:
        """The keys of codes, lane by lane."""
        return tuple(_value(kept.values[codes], type_) for kept, type_ in zip(self._lanes, self._types, strict=True))

    def release(self, codes: Ints) -> None:
        """Forget the keys of some codes, which may repeat. The caller must have no state left for these codes."""
        if self._narrow is not None or not len(self._types) or not len(codes):
            return
        self._place.fit(self.size)
        places = np.arange(len(codes))
        self._place.values[codes] = places
        codes = codes[self._place.values[codes] == places]  # each code once
        self._hash.release([kept.values[codes] for kept in self._lanes], codes)

    def snapshot(self) -> Tree:
        """The keys by code; the hash table follows from them."""
        keys = [kept.values for kept in self._lanes]
        saved = {"keys": self._save_part("keys", keys), "free": self._save_part("free", self._hash.free)}
        return super().snapshot() | saved | {"size": self.size, "narrow": self._narrow is not None}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot, and rebuild the table or hash table from the keys."""
        super().restore(tree)
        for kept, values in zip(self._lanes, self._load_part("keys", tree["keys"]), strict=True):
            kept.values = values
        keys = [kept.values[: tree["size"]] for kept in self._lanes]
        self._hash = HashTable(max(1, len(keys)))
        self._narrow = LaneCoder() if tree["narrow"] else None
        if self._narrow is not None:
            self._narrow.adopt(keys[0])
        elif keys:
            self._hash.adopt(keys, tree["size"], self._load_part("free", tree["free"]))

    def _is_narrow(self, key: Ints) -> bool:
        known = key[key != NULL]
        low, high = self._bounds
        self._bounds = (int(known.min(initial=low)), int(known.max(initial=high)))
        return self._bounds[1] - self._bounds[0] < _PLAIN_TABLE_UP_TO_RANGE


def _value(key: Ints, type_: DataType) -> Lane:
    if lane_dtype(type_) is np.int64:
        return key
    return np.where(key == NULL, np.nan, key.view(np.float64))
