"""Step functions from values to bitmaps: what a grouped filter looks up (MaddenEtAl2002 §3.2.6).

The constants of all predicates cut the values into pieces; within a piece no predicate changes:

    constants       3       7
    piece      0    1   2   3    4      and one more for NULL; where all cuts are before constants, 0  1  1  2  2

A table with a bitmap per piece answers for all predicates at once. Where it would be large, only every n-th piece has
a bitmap (a checkpoint), and the bits that change from there on are flipped one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from thalweg.core.lanes import Ints, Lane, is_null
from thalweg.flows.eddy.bits import WORD, Words, bit_values, bitmap
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning
from thalweg.flows.eddy.values import ValueSet
from thalweg.kernel.sweep.segments import slices_to_rows

_GREATEST_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class _Cuts:
    """The cuts of many sets: values, sides, and the bits that change; -inf is before all values."""

    values: Lane
    sides: Ints
    bits: Ints

    @staticmethod
    def of(bits: Ints, sets: Sequence[ValueSet], dtype: type[np.generic]) -> tuple[_Cuts, Ints]:
        """The cuts, and the bits of the sets that hold the least value."""
        counts = np.array([len(s.cuts) for s in sets], dtype=np.int64)
        lowest = np.array([bool(s.cuts) and s.cuts[0][0] == float("-inf") for s in sets], dtype=np.bool_)
        finite = [cut for s in sets for cut in s.cuts if cut[0] != float("-inf")]
        flat = np.fromiter(chain.from_iterable(finite), dtype=object, count=2 * len(finite))
        owners = np.repeat(bits, counts - lowest)
        values, sides = flat[::2].astype(dtype), flat[1::2].astype(np.int64)
        if dtype is np.int64:  # after an integer is before the next one
            after = (sides > 0) & (values < _GREATEST_INTEGER)
            values[after] += 1
            sides[after] = 0
        return _Cuts(values, sides, owners), bits[lowest]


class BitmapSteps:
    """For each value, the bits of the sets that hold it; bits without a set are as in `otherwise`."""

    def __init__(
        self,
        bits: Ints,
        sets: Sequence[ValueSet],
        words: int,
        dtype: type[np.generic],
        otherwise: bool,
        tuning: EddyTuning = DEFAULT,
    ) -> None:
        self._tuning = tuning
        cuts, lowest = _Cuts.of(bits, sets, dtype)
        self.constants: Lane = np.unique(cuts.values)  # an integer, or the one after it
        self._sided = bool(cuts.sides.any())  # else a constant belongs to the piece that starts with it
        owned = bitmap(bits, words)
        rest = ~owned if otherwise else np.zeros_like(owned)
        with_null = np.array([s.null for s in sets], dtype=np.bool_)
        self.bits = bits  # bits with a set
        self.first, self.null = rest | bitmap(lowest, words), rest | bitmap(bits[with_null], words)
        self._fill(cuts)
        self._by_value: Ints | None = self._spread()

    def look_up(self, lane: Lane) -> Words:
        """The bitmaps of values."""
        return self.at(self.pieces(lane))

    def pieces(self, lane: Lane) -> Ints:
        """The pieces that values fall into; NULL has its own."""
        found, missing = self._pieces(lane), is_null(lane)
        if missing.any():
            found[missing] = self.last
        return found

    def at(self, pieces: Ints) -> Words:
        """The bitmaps of pieces."""
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

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self._table.nbytes + self._changes.nbytes + self._words.nbytes + self._bits.nbytes

    def _fill(self, cuts: _Cuts) -> None:
        """Fill the table, or its checkpoints and the changes between pieces; NULL is the last checkpoint."""
        place, words = np.searchsorted(self.constants, cuts.values), len(self.first)
        pieces, rows = len(self.constants) + 1, place + 1
        if self._sided:
            pieces, rows = 2 * len(self.constants) + 1, 2 * place + 1 + cuts.sides
        order = np.argsort(rows, kind="stable")
        rows, bits = rows[order], cuts.bits[order]
        self.flips = rows, bits  # pieces, and the bit that changes at each
        self._words, self._bits = bits // WORD, bit_values(bits)
        self._every = max(1, -(-pieces * words // self._tuning.largest_table))
        checkpoints = -(-pieces // self._every)
        self.last = checkpoints * self._every
        self._changes = np.searchsorted(
            rows, np.arange(self.last + 1), side="right"
        )  # number of changes up to each piece
        self._table = np.zeros((checkpoints + 1, words), dtype=np.uint64)
        self._table[0] = self.first
        first = -(-rows // self._every)  # the first checkpoint after each change
        known = first < checkpoints
        np.bitwise_xor.at(self._table, (first[known], self._words[known]), self._bits[known])
        np.bitwise_xor.accumulate(self._table, axis=0, out=self._table)
        self._table[-1] = self.null

    def _pieces(self, lane: Lane) -> Ints:
        if self._by_value is not None:
            base = int(self.constants[0]) - 1
            place = np.maximum(lane, base)
            np.minimum(place, base + len(self._by_value) - 1, out=place)
            place -= base
            return self._by_value.take(place)
        return self._search(lane)

    def _search(self, lane: Lane) -> Ints:
        known = self.constants
        if not len(known):
            return np.zeros(len(lane), dtype=np.int64)
        if not self._sided:
            return np.searchsorted(known, lane, side="right")
        place = np.searchsorted(known, lane)
        pieces: Ints = 2 * place + (known.take(place, mode="clip") == lane)
        return np.minimum(pieces, 2 * len(known))  # NaN is beyond all constants

    def _spread(self) -> Ints | None:
        """A table from value to piece, where integer constants are close together."""
        known = self.constants
        if known.dtype != np.int64 or not len(known):
            return None
        if int(known[-1]) - int(known[0]) > self._tuning.direct_lookup_up_to:
            return None
        if int(known[-1]) >= _GREATEST_INTEGER - 1 or int(known[0]) <= -_GREATEST_INTEGER:
            return None
        return self._search(np.arange(int(known[0]) - 1, int(known[-1]) + 2))
