"""State by code: arrays that grow with the codes, and the table that turns keys into codes and codes into keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from thalweg.core.forgetting import FORGETTING, FreeCodes
from thalweg.core.hash_table import HashTable
from thalweg.core.lanes import NULL, Ints, Lane, identity, lane_dtype
from thalweg.core.types import DataType
from thalweg.kernel.state import old_codes as old_codes  # reads what the first version saved
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.state.value_table import ValueTable

_LEAST_ROOM = 16


class ByCode(Stateful, kind="by-code/1"):
    """One value per code, in an array that grows with the codes."""

    KEPT = ("values", "_empty")

    def __init__(self, dtype: type[np.generic], empty: Any) -> None:
        self._empty = empty
        self.values: Lane = np.full(_LEAST_ROOM, empty, dtype=dtype)

    def fit(self, size: int) -> None:
        """Make room for codes below `size`."""
        if size > len(self.values):
            grown = np.full(max(size, 2 * len(self.values)), self._empty, dtype=self.values.dtype)
            grown[: len(self.values)] = self.values
            self.values = grown

    def cut(self, size: int) -> None:
        """Give room back, if there is far more than codes below `size` need; nothing may be stored for others."""
        if len(self.values) > 4 * max(size, _LEAST_ROOM):
            self.values = self.values[: 2 * max(size, _LEAST_ROOM)].copy()


class KeyTable(Stateful, kind="key-table/2"):
    """A dense code for each key of one or more lanes, and back. A released code is given to another key later.

    Owners that know when a key is gone call `release`. Others call `forget` after each batch: now and then it asks
    which codes their state names, and releases all others.
    """

    KEPT = ("_forget_at",)
    ADDED = ("keys", "free", "size", "narrow")

    def __init__(self, types: Sequence[DataType]) -> None:
        self._types = tuple(types)
        self._lanes = [ByCode(np.int64, 0) for _ in types]  # by code: the keys, as `identity` gives them
        self._place = ByCode(np.int64, 0)
        self._forget_at = FORGETTING.next_at(0, 0)
        self._clear(FreeCodes(0 if types else 1))

    def _clear(self, codes: FreeCodes) -> None:
        """Forget all keys."""
        self._codes = codes
        self._hash = HashTable(max(1, len(self._types)), codes)
        self._narrow = ValueTable(codes) if len(self._types) == 1 else None  # as long as keys are close together

    @staticmethod
    def of_width(lanes: int) -> KeyTable:
        """A table for keys of so many lanes of any types, which will not be decoded."""
        return KeyTable([DataType.BIGINT] * lanes)

    @property
    def size(self) -> int:
        """Every code is below it."""
        return self._codes.size

    @property
    def used(self) -> int:
        """The number of keys."""
        return self._codes.used

    @property
    def free(self) -> Ints:
        """The codes that are free."""
        return self._codes.free

    def encode(self, lanes: Sequence[Lane], rows: int) -> Ints:
        """The code of each row's key; new keys get new codes. A key without lanes has code 0."""
        if not self._types or not rows:
            return np.zeros(rows, dtype=np.int64)
        keys = [identity(lane) for lane in lanes]
        if self._narrow is not None and not self._narrow.covers(keys[0]):
            self._narrow = None
            self._fill_hash()
        table = self._hash if self._narrow is None else self._narrow
        codes = self._hash.encode(keys) if self._narrow is None else self._narrow.encode(keys[0])
        for new, values in table.new:
            for kept, value in zip(self._lanes, values, strict=True):
                kept.fit(self.size)
                kept.values[new] = value
        table.new.clear()
        return codes

    def decode(self, codes: Ints) -> tuple[Lane, ...]:
        """The keys of codes, lane by lane."""
        return tuple(_value(kept.values[codes], type_) for kept, type_ in zip(self._lanes, self._types, strict=True))

    def release(self, codes: Ints) -> None:
        """Forget the keys of some codes, which may repeat. The caller must have no state left for these codes."""
        if not self._types or not len(codes):
            return
        self._place.fit(self.size)
        places = np.arange(len(codes))
        self._place.values[codes] = places
        self._release(codes[self._place.values[codes] == places])  # each code once

    def forget(self, named: Callable[[], Iterable[Ints]]) -> bool:
        """Release the codes that nothing names, if there are many new ones since the last time; say whether it did.

        `named` gives all codes that the caller's state names, negative ones aside; a code may be named many times.
        """
        if not self._types or not (FORGETTING.every_batch or self.used >= self._forget_at):
            return False
        gone, work = ~self._codes.is_free(), 0
        for codes in named():
            gone[codes if codes.min(initial=0) >= 0 else codes[codes >= 0]] = False
            work += len(codes)
        self._release(np.flatnonzero(gone))
        self._codes.settle()
        for kept in self._lanes:
            kept.cut(self.size)
        self._forget_at = FORGETTING.next_at(self.used, work)
        return True

    def _release(self, codes: Ints) -> None:
        keys = [kept.values[codes] for kept in self._lanes]
        if self._narrow is None:
            self._hash.release(keys, codes)
        else:
            self._narrow.release(keys[0], codes)
        for kept in self._lanes:
            kept.values[codes] = 0  # a key that is no longer there must not look as if it named a string

    def snapshot(self) -> Tree:
        """The keys by code; the table or hash table follows from them."""
        keys = [kept.values for kept in self._lanes]
        saved = {"keys": self._save_part("keys", keys), "free": self._save_part("free", self._codes.free)}
        return super().snapshot() | saved | {"size": self.size, "narrow": self._narrow is not None}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot, and rebuild the table or hash table from the keys."""
        super().restore(tree)
        for kept, values in zip(self._lanes, self._load_part("keys", tree["keys"]), strict=True):
            kept.values = values
        self._clear(FreeCodes(tree["size"], self._load_part("free", tree["free"])))
        if not self._types:
            return
        used = np.flatnonzero(~self._codes.is_free())
        if not tree["narrow"] or self._narrow is None or not self._narrow.fill(self._lanes[0].values[used], used):
            self._narrow = None
            self._fill_hash()

    def _fill_hash(self) -> None:
        used = np.flatnonzero(~self._codes.is_free())
        self._hash.fill([kept.values[used] for kept in self._lanes], used)


def _value(key: Ints, type_: DataType) -> Lane:
    if lane_dtype(type_) is np.int64:
        return key
    return np.where(key == NULL, np.nan, key.view(np.float64))
