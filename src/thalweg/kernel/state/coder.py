"""Dense codes for keys: 0, 1, 2 ... in order of first appearance, so that state by key lies in plain arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.lanes import NULL, Flags, Ints, Lane, identity
from thalweg.core.runs import Run, join_runs, with_run
from thalweg.kernel.state.hashing import HashTable
from thalweg.kernel.state.snapshot import Stateful, Tree

# A table by value is faster than hashing, but takes memory for every value between the least and the greatest.
_MOST_TABLE_ENTRIES = 1 << 22
_SORT_WHEN_ENTRIES_PER_VALUE = 16  # with so many table entries for each new value, sorting beats scanning the table


class LaneCoder(Stateful, kind="lane-codes/1"):
    """Codes 0, 1, 2 ... for the values of one int64 lane, in order of first appearance.

    A code is never given to another value, so a snapshot adds one run of new values to the previous snapshot's.
    State: one entry per distinct value, for ever.
    """

    KEPT = ("_log",)

    def __init__(self) -> None:
        self._log: list[Run] = []  # runs of values by code, as far as they have been saved
        self._forget()

    def _forget(self) -> None:
        self.size = 0
        self._null = -1  # the code of NULL or -1; NULL is too far from all other values for the table
        self._base = 0
        self._table: Ints = np.full(0, -1, dtype=np.int64)  # codes by (value - base); -1 if the value has no code
        self._hashed: HashTable | None = None  # replaces the table when values are too far apart

    def encode(self, lane: Ints) -> Ints:
        """The codes of the values; new values get new codes."""
        if not len(lane):
            return lane
        if self._hashed is None:
            nulls = lane == NULL
            values = lane[~nulls] if nulls.any() else lane
            if not len(values) or self._cover(values):
                return self._by_table(values, nulls)
            self._hashed = self._leave_table()
        codes = self._hashed.encode([lane])
        self.size = self._hashed.size
        return codes

    def adopt(self, values: Ints) -> None:
        """Forget all codes, then give these values, which must differ, the codes 0, 1, 2 ..."""
        self._forget()
        nulls = np.flatnonzero(values == NULL)
        known = np.delete(values, nulls)
        if not len(known) or self._cover(known):
            self._table[known - self._base] = np.delete(np.arange(len(values)), nulls)
            self._null = int(nulls[0]) if len(nulls) else -1
        else:
            self._hashed = HashTable(1)
            self._hashed.adopt([values], len(values))
        self.size = len(values)

    def snapshot(self) -> Tree:
        """All values so far, by code; the runs of earlier snapshots are shared."""
        logged = sum(len(run[0]) for run in self._log)
        if logged < self.size:
            self._log = with_run(self._log, (self._values(logged),))
        return super().snapshot()

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot, and rebuild the table or hash table from the values."""
        super().restore(tree)
        self.adopt(join_runs(self._log)[0] if self._log else np.empty(0, dtype=np.int64))

    def _values(self, since: int) -> Ints:
        """The values whose codes are `since` or greater."""
        values = np.full(self.size - since, NULL)
        if self._hashed is None:
            known = np.flatnonzero(self._table >= since)
            values[self._table[known] - since] = known + self._base
        else:
            codes, (keys,) = self._hashed.known(since)
            values[codes - since] = keys
        return values

    def _by_table(self, values: Ints, nulls: Flags) -> Ints:
        codes = self._table[values - self._base]
        unknown = codes < 0
        if unknown.any():
            new = self._each_once(values[unknown])
            self._table[new - self._base] = np.arange(self.size, self.size + len(new))
            self.size += len(new)
            codes = self._table[values - self._base]
        if len(values) == len(nulls):
            return codes
        if self._null < 0:
            self._null, self.size = self.size, self.size + 1
        spread = np.full(len(nulls), self._null)
        spread[~nulls] = codes
        return spread

    def _each_once(self, values: Ints) -> Ints:
        """The distinct values, ascending. If there are many, marking them in the table is faster than sorting."""
        if _SORT_WHEN_ENTRIES_PER_VALUE * len(values) < len(self._table):
            return np.unique(values)
        marked = np.zeros(len(self._table), dtype=np.bool_)
        marked[values - self._base] = True
        return np.flatnonzero(marked) + self._base

    def _cover(self, values: Ints) -> bool:
        """Extend the table to cover all values; return False if it would become too large."""
        low, high = int(values.min()), int(values.max())
        known = len(self._table)
        if known:
            low, high = min(low, self._base), max(high, self._base + known - 1)
        if high - low >= _MOST_TABLE_ENTRIES:
            return False
        if not known or low < self._base or high >= self._base + known:
            grown = np.full(min(max(high - low + 1, 2 * known), _MOST_TABLE_ENTRIES), -1, dtype=np.int64)
            if known:
                grown[self._base - low : self._base - low + known] = self._table
            self._table, self._base = grown, low
        return True

    def _leave_table(self) -> HashTable:
        """Move all codes, also that of NULL, into a hash table."""
        hashed = HashTable(1)
        if self.size:
            hashed.adopt([self._values(0)], self.size)
        self._table = np.full(0, -1, dtype=np.int64)
        return hashed


class KeyCoder(Stateful, kind="key-codes/1"):
    """Codes for keys of any number of lanes: the codes of two lanes are packed into one integer and coded again."""

    KEPT = ("_lanes", "_pairs")

    def __init__(self, lanes: int) -> None:
        self._lanes = [LaneCoder() for _ in range(lanes)]
        self._pairs = [LaneCoder() for _ in range(max(0, lanes - 1))]

    @property
    def size(self) -> int:
        """The number of codes; every code is below it."""
        if not self._lanes:
            return 1
        return (self._pairs or self._lanes)[-1].size

    def encode(self, lanes: Sequence[Lane], rows: int) -> Ints:
        """The code of each row's key; a key without lanes has code 0."""
        if not self._lanes:
            return np.zeros(rows, dtype=np.int64)
        codes = self._lanes[0].encode(identity(lanes[0]))
        for coder, pairs, lane in zip(self._lanes[1:], self._pairs, lanes[1:], strict=True):
            codes = pairs.encode((codes << 32) | coder.encode(identity(lane)))
        return codes
