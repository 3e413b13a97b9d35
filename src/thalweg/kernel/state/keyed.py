"""Tuples sorted by key: the code of their join key, then a hash of the tuple, so that equal tuples are neighbours.

Two tuples are *equal* if row, end and dates are. A negative tuple deletes an equal positive one, from its start on.
The hash only brings them together; whether they are equal is always looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Flags, Ints, Lane, identity
from thalweg.kernel.state.sorting import stable_order

_HASH_BITS = 32
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio
_FOLD = np.uint64(29)
_TOP = np.uint64(64 - _HASH_BITS)


@dataclass(frozen=True)
class Keyed:
    """A batch in the order of (key, start)."""

    keys: Ints
    tuples: Batch

    @staticmethod
    def of(codes: Ints, tuples: Batch) -> Keyed:
        """Tuples with the codes of their join keys, which must be below 2^31."""
        return Keyed.told_apart(codes, _hash(tuples), tuples)

    @staticmethod
    def for_good(codes: Ints, tuples: Batch) -> Keyed:
        """Tuples that nothing deletes: equal ones need not be neighbours, and codes are sorted faster than hashes."""
        if _in_order(tuples.start):
            order = stable_order(codes)
        else:  # some were kept back, and came with others: times are still in few runs
            by_start = np.argsort(tuples.start, kind="stable")
            order = by_start[stable_order(codes[by_start])]
        return Keyed(codes[order] << _HASH_BITS, tuples.take(order))

    @staticmethod
    def told_apart(codes: Ints, by: Ints, tuples: Batch) -> Keyed:
        """The same with other numbers below 2^32 in place of the hash: equal for equal tuples."""
        return Keyed((codes << _HASH_BITS) | by, tuples)._sorted()

    @staticmethod
    def concat(parts: Sequence[Keyed]) -> Keyed:
        """Several as one."""
        if len(parts) == 1:
            return parts[0]
        return Keyed(np.concatenate([p.keys for p in parts]), Batch.concat([p.tuples for p in parts]))._sorted()

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def codes(self) -> Ints:
        """The codes of the join keys, ascending."""
        return codes_of(self.keys)

    def take(self, rows: Lane) -> Keyed:
        """Some of the tuples: ascending positions, or a mask."""
        return Keyed(self.keys[rows], self.tuples.take(rows))

    def slices(self, codes: Ints) -> tuple[Ints, Ints]:
        """Where the tuples with each of some codes begin, and how many they are."""
        first, last = (np.searchsorted(self.keys, edge << _HASH_BITS) for edge in (codes, codes + 1))
        return first, last - first

    def closed(self) -> Keyed:
        """The same bag at every instant in fewer tuples: +[a, e) and -[u, e) of equal tuples become +[a, u)."""
        rows = self._of_both_signs()
        if not len(rows):
            return self
        follows = self.keys[rows[1:]] == self.keys[rows[:-1]]
        follows &= equal(self.tuples, rows[1:], self.tuples, rows[:-1])
        deleted, deleting = _pairs(np.append(0, np.cumsum(~follows)), self.tuples.sign[rows])
        end = self.tuples.end.copy()
        end[rows[deleted]] = self.tuples.start[rows[deleting]]
        kept = self.tuples.start < end
        kept[rows[deleting]] = False
        return replace(self, tuples=replace(self.tuples, end=end)).take(kept)

    def _of_both_signs(self) -> Ints:
        """The rows whose key has positive and negative tuples."""
        sign = self.tuples.sign
        if not len(sign) or sign.min() == sign.max():
            return np.empty(0, dtype=np.int64)
        first = np.flatnonzero(np.append(True, self.keys[1:] != self.keys[:-1]))
        size = np.diff(np.append(first, len(sign)))
        mixed = np.abs(np.add.reduceat(sign, first, dtype=np.int64)) < size
        return np.flatnonzero(np.repeat(mixed, size))

    def _sorted(self) -> Keyed:
        start = self.tuples.start
        return self.take(np.argsort(self.keys, kind="stable") if _in_order(start) else np.lexsort((start, self.keys)))


def _in_order(start: Ints) -> bool:
    """As batches mostly are."""
    return bool((start[1:] >= start[:-1]).all())


class Tuples(Protocol):
    """What makes tuples equal."""

    @property
    def columns(self) -> tuple[Lane, ...]:
        """The row."""

    @property
    def end(self) -> Ints:
        """When it ends."""

    @property
    def dates(self) -> Dates | None:
        """Its dates."""


def equal(some: Tuples, rows: Ints, others: Tuples, other_rows: Ints) -> Flags:
    """Pair by pair, whether tuples are equal."""
    same = np.ones(len(rows), dtype=np.bool_)
    for a, b in zip(_traits(some), _traits(others), strict=True):
        same &= identity(a[rows]) == identity(b[other_rows])
    return same


def codes_of(keys: Ints) -> Ints:
    """The codes of the join keys that keys begin with."""
    return keys >> _HASH_BITS


def _traits(tuples: Tuples) -> tuple[Lane, ...]:
    dates = () if tuples.dates is None else (tuples.dates.ts, tuples.dates.exp)
    return (*tuples.columns, tuples.end, *dates)


def _hash(tuples: Tuples) -> Ints:
    mixed = np.zeros(len(tuples.end), dtype=np.uint64)
    for lane in _traits(tuples):
        mixed ^= identity(lane).view(np.uint64)
        mixed *= _MULTIPLIER
        mixed ^= mixed >> _FOLD
    return (mixed >> _TOP).view(np.int64)


def _pairs(group: Ints, sign: Lane) -> tuple[Ints, Ints]:
    """Rows of positive tuples and, for each, that of the negative one that deletes it, in groups of equal tuples.

    The rows of a group are in order of time, and so are its pairs: first in, first out. A negative tuple that finds
    no positive one before it in the group deletes something older than all of them.
    """
    level = np.cumsum(sign, dtype=np.int64)
    first = np.searchsorted(group, group, side="left")
    level -= level[first] - sign[first]  # positive less negative tuples of the group so far
    floor = -group * (len(group) + 1)  # each group lies below all levels of the one before
    lowest = np.append(np.int64(0), np.minimum.accumulate(level + floor)[:-1])
    older = level + floor < np.minimum(lowest, floor)
    plus, minus = np.flatnonzero(sign > 0), np.flatnonzero((sign < 0) & ~older)
    rank = np.arange(len(minus)) - np.searchsorted(group[minus], group[minus], side="left")
    return plus[np.searchsorted(group[plus], group[minus], side="left") + rank], minus
