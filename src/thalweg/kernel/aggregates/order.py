"""Values as integers of the same order, for MIN and MAX alike: the greatest integer is the best value.

A value becomes a *raw* integer, which state may keep. Numbers are compared by their raws. The raw of a string is its
code in the pool; strings get ranks among the strings that are being compared, which do not depend on the pool's later
strings.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from thalweg.core.lanes import NULL, Ints, Lane, identity
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType

_ALL_BUT_SIGN = np.int64(2**63 - 1)


class Scale:
    """Turns raws into keys that can be compared, and back. NULL stays NULL, the least integer."""

    def keys(self, raw: Ints) -> Ints:
        """Keys in the order of the values."""
        return raw

    def raws(self, keys: Ints) -> Ints:
        """The raws of keys."""
        return keys


class StringScale(Scale):
    """Keys of strings: their ranks among some strings; negative ranks if the least string is the best."""

    def __init__(self, raw: Ints, pool: StringPool, least: bool) -> None:
        self._sign = -1 if least else 1
        self._codes = np.unique(raw[raw != NULL])
        self._sorted = np.asarray(pc.array_sort_indices(pool.decode(self._codes)).to_numpy(), dtype=np.int64)
        self._ranks = np.empty(len(self._sorted), dtype=np.int64)
        self._ranks[self._sorted] = np.arange(len(self._sorted))

    def keys(self, raw: Ints) -> Ints:
        """The signed ranks of raws."""
        keys = np.full(len(raw), NULL)
        known = np.flatnonzero(raw != NULL)
        keys[known] = self._sign * self._ranks[np.searchsorted(self._codes, raw[known])]
        return keys

    def raws(self, keys: Ints) -> Ints:
        """The raws of signed ranks."""
        raw = np.full(len(keys), NULL)
        known = np.flatnonzero(keys != NULL)
        raw[known] = self._codes[self._sorted[self._sign * keys[known]]]
        return raw


class Order:
    """The order of the values of one type, or its reverse if the `least` value is wanted."""

    def __init__(self, type_: DataType, pool: StringPool | None = None, least: bool = False) -> None:
        self.type = type_
        self._pool = StringPool() if pool is None else pool  # `pool or ...` would replace an empty pool
        self._least = least

    def raw(self, lane: Lane) -> Ints:
        """The raws of values."""
        if self.type is DataType.STRING:
            return lane
        ordered = identity(lane)
        if lane.dtype == np.float64:  # the bits of negative DOUBLEs descend as the numbers ascend
            ordered = np.where(ordered == NULL, NULL, ordered ^ ((ordered >> 63) & _ALL_BUT_SIGN))
        return -ordered if self._least else ordered  # NULL stays NULL: minus the least int64 is itself

    def lane(self, raw: Ints) -> Lane:
        """The values of raws."""
        if self.type is DataType.STRING:
            return raw
        ordered = -raw if self._least else raw
        if self.type is not DataType.DOUBLE:
            return ordered
        bits: Ints = ordered ^ ((ordered >> 63) & _ALL_BUT_SIGN)
        return np.where(ordered == NULL, np.nan, bits.view(np.float64))

    def scale(self, raw: Ints) -> Scale:
        """A scale for comparing these raws."""
        return StringScale(raw, self._pool, self._least) if self.type is DataType.STRING else Scale()
