"""Tuples sorted by key: the code of their join key, then a hash of the tuple, so that equal tuples are neighbours.

Two tuples are *equal* if their rows, ends and dates are. A negative tuple deletes an equal positive one, from its
start on. The hash only brings equal tuples together; the tuples themselves are always compared.
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
_FOLD_SHIFT = np.uint64(29)
_TOP_SHIFT = np.uint64(64 - _HASH_BITS)


@dataclass(frozen=True)
class Keyed:
    """A batch sorted by (key, start)."""

    keys: Ints
    tuples: Batch

    @staticmethod
    def of(codes: Ints, tuples: Batch) -> Keyed:
        """Tuples with the codes of their join keys; codes must be below 2^31."""
        return Keyed.with_tiebreak(codes, _hash(tuples), tuples)

    @staticmethod
    def of_undeletable(codes: Ints, tuples: Batch) -> Keyed:
        """Tuples that no negative tuple will delete: they are sorted by code alone, which is faster."""
        if _in_order(tuples.start):
            order = stable_order(codes)
        else:  # a window held some tuples back: starts consist of few ascending runs
            by_start = np.argsort(tuples.start, kind="stable")
            order = by_start[stable_order(codes[by_start])]
        return Keyed(codes[order] << _HASH_BITS, tuples.take(order))

    @staticmethod
    def with_tiebreak(codes: Ints, tiebreak: Ints, tuples: Batch) -> Keyed:
        """Tuples with numbers below 2^32 in place of the hash; equal tuples must have equal numbers."""
        return Keyed((codes << _HASH_BITS) | tiebreak, tuples)._sorted()

    @staticmethod
    def concat(parts: Sequence[Keyed]) -> Keyed:
        """Several batches as one."""
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
        """Some of the tuples, given as ascending positions or as a mask."""
        return Keyed(self.keys[rows], self.tuples.take(rows))

    def slices(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each code the position of its first tuple, and the number of its tuples."""
        first, last = (np.searchsorted(self.keys, edge << _HASH_BITS) for edge in (codes, codes + 1))
        return first, last - first

    def closed(self) -> Keyed:
        """Fewer tuples for the same bag at every instant: +[a, e) and -[u, e) of equal tuples become +[a, u)."""
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
        """The rows of keys that have both positive and negative tuples."""
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
    """Whether starts ascend, as they do in most batches."""
    return bool((start[1:] >= start[:-1]).all())


class Comparable(Protocol):
    """The attributes that are compared to see whether tuples are equal."""

    @property
    def columns(self) -> tuple[Lane, ...]:
        """The columns of the rows."""

    @property
    def end(self) -> Ints:
        """The ends."""

    @property
    def dates(self) -> Dates | None:
        """The dates, if there are any."""


def equal(some: Comparable, rows: Ints, others: Comparable, other_rows: Ints) -> Flags:
    """Compare rows[i] of some tuples with other_rows[i] of others."""
    same = np.ones(len(rows), dtype=np.bool_)
    for a, b in zip(_compared(some), _compared(others), strict=True):
        same &= identity(a[rows]) == identity(b[other_rows])
    return same


def codes_of(keys: Ints) -> Ints:
    """The codes of the join keys, which are the upper bits of keys."""
    return keys >> _HASH_BITS


def _compared(tuples: Comparable) -> tuple[Lane, ...]:
    dates = () if tuples.dates is None else (tuples.dates.ts, tuples.dates.exp)
    return (*tuples.columns, tuples.end, *dates)


def _hash(tuples: Comparable) -> Ints:
    mixed = np.zeros(len(tuples.end), dtype=np.uint64)
    for lane in _compared(tuples):
        mixed ^= identity(lane).view(np.uint64)
        mixed *= _MULTIPLIER
        mixed ^= mixed >> _FOLD_SHIFT
    return (mixed >> _TOP_SHIFT).view(np.int64)


def _pairs(group: Ints, sign: Lane) -> tuple[Ints, Ints]:
    """Rows of positive tuples and, for each, the row of the negative tuple that deletes it; groups hold equal tuples.

    The rows of a group are in order of time, and are paired first in, first out. A negative tuple without a positive
    one before it in the group deletes a tuple that is older than the batch, and is left out.
    """
    level = np.cumsum(sign, dtype=np.int64)
    first = np.searchsorted(group, group, side="left")
    level -= level[first] - sign[first]  # positive less negative tuples of the group so far
    floor = -group * (len(group) + 1)  # puts each group below all levels of the previous group
    lowest = np.append(np.int64(0), np.minimum.accumulate(level + floor)[:-1])
    older = level + floor < np.minimum(lowest, floor)
    plus, minus = np.flatnonzero(sign > 0), np.flatnonzero((sign < 0) & ~older)
    rank = np.arange(len(minus)) - np.searchsorted(group[minus], group[minus], side="left")
    return plus[np.searchsorted(group[plus], group[minus], side="left") + rank], minus
