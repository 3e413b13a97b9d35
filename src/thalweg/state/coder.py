"""Dense codes for keys: equal keys get equal small integers, so that state can live in plain arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import NULL, Ints, Lane, identity

# A table by value beats a dictionary while the values' spread is within this; beyond, memory would suffer.
_SPREAD = 1 << 22


class LaneCoder:
    """Codes 0, 1, 2 ... for the values of one int64 lane, in order of appearance."""

    def __init__(self) -> None:
        self.size = 0
        self._null = -1  # the code of NULL, once it has one
        self._base = 0
        self._table: Ints | None = np.full(0, -1, dtype=np.int64)  # code by value - base, -1 if unknown
        self._codes: dict[int, int] = {}  # once the values are spread too widely

    def encode(self, lane: Ints) -> Ints:
        """The codes of values; new values get new codes."""
        nulls = lane == NULL  # far from all other values: it would spoil the table
        if not nulls.any():
            return self._encode_values(lane)
        codes = np.empty(len(lane), dtype=np.int64)
        codes[~nulls] = self._encode_values(lane[~nulls])
        if self._null < 0:
            self._null, self.size = self.size, self.size + 1
        codes[nulls] = self._null
        return codes

    def _encode_values(self, lane: Ints) -> Ints:
        if not len(lane):
            return lane
        if self._table is not None and not self._cover(lane):
            self._leave_table()
        return self._by_table(lane, self._table) if self._table is not None else self._by_dictionary(lane)

    def _by_table(self, lane: Ints, table: Ints) -> Ints:
        codes = table[lane - self._base]
        unknown = codes < 0
        if unknown.any():
            values = np.unique(lane[unknown])
            table[values - self._base] = np.arange(self.size, self.size + len(values))
            self.size += len(values)
            codes = table[lane - self._base]
        return codes

    def _by_dictionary(self, lane: Ints) -> Ints:
        values, places = np.unique(lane, return_inverse=True)
        known = self._codes
        codes = np.empty(len(values), dtype=np.int64)
        for i, value in enumerate(values.tolist()):  # distinct values only
            codes[i] = found = known.setdefault(value, self.size)
            self.size += found == self.size
        return codes[places]

    def _cover(self, lane: Ints) -> bool:
        """Make the table reach all values; False if it would grow too large."""
        assert self._table is not None
        low, high = int(lane.min()), int(lane.max())
        known = len(self._table)
        if known:
            low, high = min(low, self._base), max(high, self._base + len(self._table) - 1)
        if high - low >= _SPREAD:
            return False
        if not known or low < self._base or high >= self._base + known:
            grown = np.full(min(max(high - low + 1, 2 * known), _SPREAD), -1, dtype=np.int64)
            if known:
                grown[self._base - low : self._base - low + known] = self._table
            self._table, self._base = grown, low
        return True

    def _leave_table(self) -> None:
        assert self._table is not None
        known = np.flatnonzero(self._table >= 0)
        self._codes = dict(zip((known + self._base).tolist(), self._table[known].tolist(), strict=True))
        self._table = None


class KeyCoder:
    """Codes for keys of any number of lanes: pairs of codes are packed and coded again."""

    def __init__(self, lanes: int) -> None:
        self._lanes = [LaneCoder() for _ in range(lanes)]
        self._pairs = [LaneCoder() for _ in range(max(0, lanes - 1))]

    @property
    def size(self) -> int:
        """How many codes there are: all codes are below."""
        if not self._lanes:
            return 1
        return (self._pairs or self._lanes)[-1].size

    def encode(self, lanes: Sequence[Lane], rows: int) -> Ints:
        """The code of each row's key; a key of no lanes is always code 0."""
        if not self._lanes:
            return np.zeros(rows, dtype=np.int64)
        codes = self._lanes[0].encode(identity(lanes[0]))
        for coder, pairs, lane in zip(self._lanes[1:], self._pairs, lanes[1:], strict=True):
            codes = pairs.encode((codes << 32) | coder.encode(identity(lane)))
        return codes
