"""Step functions from values to bitmaps: what a grouped filter looks up (seed 003, section 3.2.6).

The constants of all predicates cut the values into pieces in which every predicate says the same:

    constants       3       7
    piece      0    1   2   3    4      and one more for NULL

A table with a bitmap per piece answers for all predicates at once. Where it would be large, only every n-th piece has
its bitmap (a checkpoint), and the bits that change from there on are turned round one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from thalweg.core.lanes import Ints, Lane, is_null
from thalweg.eddy.bits import WORD, Words, bit_values, bitmap
from thalweg.eddy.values import ValueSet
from thalweg.operators.segments import slices_to_rows

_LARGEST = 1 << 17  # words of a table: it should stay in the cache
_SPREAD = 1 << 16  # of constants that are looked up by value
_WORST = 2**63 - 1


@dataclass(frozen=True)
class _Cuts:
    """The cuts of many sets: values, sides, and the bits that change there; -inf is before all values."""

    values: Lane
    sides: Ints
    bits: Ints

    @staticmethod
    def of(bits: Ints, sets: Sequence[ValueSet], dtype: type[np.generic]) -> tuple[_Cuts, Ints]:
        """The cuts, and the bits whose sets begin with the least value."""
        counts = np.array([len(s.cuts) for s in sets], dtype=np.int64)
        lowest = np.array([bool(s.cuts) and s.cuts[0][0] == float("-inf") for s in sets], dtype=np.bool_)
        finite = [cut for s in sets for cut in s.cuts if cut[0] != float("-inf")]
        flat = np.fromiter(chain.from_iterable(finite), dtype=object, count=2 * len(finite))
        owners = np.repeat(bits, counts - lowest)
        return _Cuts(flat[::2].astype(dtype), flat[1::2].astype(np.int64), owners), bits[lowest]


class Steps:
    """For each value the bits of the sets that hold it; bits that have no set are as `otherwise` says."""

    def __init__(
        self, bits: Ints, sets: Sequence[ValueSet], words: int, dtype: type[np.generic], otherwise: bool
    ) -> None:
        cuts, lowest = _Cuts.of(bits, sets, dtype)
        self._constants: Lane = np.unique(cuts.values)
        owned = bitmap(bits, words)
        rest = ~owned if otherwise else np.zeros_like(owned)
        with_null = np.array([s.null for s in sets], dtype=np.bool_)
        self._null = rest | bitmap(bits[with_null], words)
        self._fill(rest | bitmap(lowest, words), cuts)
        self._by_value: Ints | None = self._spread()

    def look_up(self, lane: Lane) -> Words:
        """The bitmaps of values."""
        found = self._at(self._pieces(lane))
        missing = is_null(lane)
        if missing.any():
            found[missing] = self._null
        return found

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self._table.nbytes + self._changes.nbytes + self._words.nbytes + self._bits.nbytes

    def _fill(self, first: Words, cuts: _Cuts) -> None:
        """The table, or its checkpoints and what changes from piece to piece."""
        pieces, words = 2 * len(self._constants) + 1, len(first)
        rows = 2 * np.searchsorted(self._constants, cuts.values) + 1 + cuts.sides
        order = np.argsort(rows, kind="stable")
        rows, bits = rows[order], cuts.bits[order]
        self._words, self._bits = bits // WORD, bit_values(bits)
        self._changes = np.searchsorted(rows, np.arange(pieces), side="right")  # up to each piece
        self._every = max(1, -(-pieces * words // _LARGEST))
        checkpoints = -(-pieces // self._every)
        self._table = np.zeros((checkpoints, words), dtype=np.uint64)
        self._table[0] = first
        told = -(-rows // self._every)  # the first checkpoint that knows of a change
        known = told < checkpoints
        np.bitwise_xor.at(self._table, (told[known], self._words[known]), self._bits[known])
        np.bitwise_xor.accumulate(self._table, axis=0, out=self._table)

    def _at(self, pieces: Ints) -> Words:
        if self._every == 1:
            return self._table.take(pieces, axis=0)
        checkpoint = pieces // self._every
        found = self._table.take(checkpoint, axis=0)
        first = self._changes[checkpoint * self._every]
        count = self._changes[pieces] - first
        changes = slices_to_rows(first, count)
        place = np.repeat(np.arange(len(pieces)) * found.shape[1], count) + self._words[changes]
        np.bitwise_xor.at(found.reshape(-1), place, self._bits[changes])
        return found

    def _pieces(self, lane: Lane) -> Ints:
        if self._by_value is not None:
            base = int(self._constants[0]) - 1
            return self._by_value.take(np.clip(lane, base, base + len(self._by_value) - 1) - base)
        return self._search(lane)

    def _search(self, lane: Lane) -> Ints:
        known = self._constants
        if not len(known):
            return np.zeros(len(lane), dtype=np.int64)
        place = np.searchsorted(known, lane)
        pieces: Ints = 2 * place + (known.take(place, mode="clip") == lane)
        return np.minimum(pieces, 2 * len(known))  # NaN is beyond all

    def _spread(self) -> Ints | None:
        """The pieces by value, where whole numbers lie close together."""
        known = self._constants
        if known.dtype != np.int64 or not len(known) or int(known[-1]) - int(known[0]) > _SPREAD:
            return None
        if int(known[-1]) >= _WORST - 1 or int(known[0]) <= -_WORST:
            return None
        return self._search(np.arange(int(known[0]) - 1, int(known[-1]) + 2))
