"""Values as integers whose order is the values' order, for MIN and MAX alike: the best is the greatest.

A value becomes a *raw* integer once, which state may keep. Numbers compare by their raws. The raw of a string is its
code; strings get ranks among those that are being compared, so nothing depends on what the pool learns later.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from thalweg.core.lanes import NULL, Ints, Lane, identity
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType

_REST = np.int64(2**63 - 1)


class Scale:
    """Comparable keys of some raws, and back. NULL stays NULL, the least."""

    def keys(self, raw: Ints) -> Ints:
        """Keys that compare as the values do."""
        return raw

    def raws(self, keys: Ints) -> Ints:
        """The raws that have these keys."""
        return keys


class StringScale(Scale):
    """Ranks of strings among a few; negative ranks where the least is the best."""

    def __init__(self, raw: Ints, pool: StringPool, least: bool) -> None:
        self._sign = -1 if least else 1
        self._codes = np.unique(raw[raw != NULL])
        self._sorted = np.asarray(pc.array_sort_indices(pool.decode(self._codes)).to_numpy(), dtype=np.int64)
        self._ranks = np.empty(len(self._sorted), dtype=np.int64)
        self._ranks[self._sorted] = np.arange(len(self._sorted))

    def keys(self, raw: Ints) -> Ints:
        """Signed ranks."""
        keys = np.full(len(raw), NULL)
        known = np.flatnonzero(raw != NULL)
        keys[known] = self._sign * self._ranks[np.searchsorted(self._codes, raw[known])]
        return keys

    def raws(self, keys: Ints) -> Ints:
        """The codes at ranks."""
        raw = np.full(len(keys), NULL)
        known = np.flatnonzero(keys != NULL)
        raw[known] = self._codes[self._sorted[self._sign * keys[known]]]
        return raw


class Order:
    """The order of one type's values, or the reverse where the least is wanted."""

    def __init__(self, type_: DataType, pool: StringPool | None = None, least: bool = False) -> None:
        self.type = type_
        self._pool = StringPool() if pool is None else pool  # an empty pool is false
        self._least = least

    def raw(self, lane: Lane) -> Ints:
        """Values as raws."""
        if self.type is DataType.STRING:
            return lane
        ordered = identity(lane)
        if lane.dtype == np.float64:  # the bits of negative DOUBLEs fall where the numbers rise
            ordered = np.where(ordered == NULL, NULL, ordered ^ ((ordered >> 63) & _REST))
        return -ordered if self._least else ordered  # minus the least int64 is itself

    def lane(self, raw: Ints) -> Lane:
        """Raws as values."""
        if self.type is DataType.STRING:
            return raw
        ordered = -raw if self._least else raw
        if self.type is not DataType.DOUBLE:
            return ordered
        bits: Ints = ordered ^ ((ordered >> 63) & _REST)
        return np.where(ordered == NULL, np.nan, bits.view(np.float64))

    def scale(self, raw: Ints) -> Scale:
        """What makes these raws comparable."""
        return StringScale(raw, self._pool, self._least) if self.type is DataType.STRING else Scale()
