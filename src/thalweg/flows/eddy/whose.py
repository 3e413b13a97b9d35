"""Which query gets which result: marked in bitmaps where most results go to many, listed where they go to few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.flows.eddy.bits import Words, count_bits, hits

_FEW = 16  # queries for each that gets a result: with more, a list is shorter and faster to go through
_SAMPLE = 64  # results
_OCTET = 8


@dataclass(frozen=True)
class Marked:
    """Results with their lineage."""

    lineage: Words

    def __len__(self) -> int:
        return self._total

    @cached_property
    def _total(self) -> int:
        return count_bits(self.lineage)

    def any(self) -> bool:
        """Whether anybody gets anything."""
        return bool(self.lineage.any())

    def by_bit(self) -> Iterator[tuple[int, Ints]]:
        """Bits, and the results that each has, in order."""
        words = np.ascontiguousarray(self.lineage, dtype="<u8")
        octets = words.view(np.uint8)
        used = _any_row(words).view(np.uint8)
        for place in used.nonzero()[0].tolist():
            marks = np.unpackbits(np.ascontiguousarray(octets[:, place]), bitorder="little").view(np.bool_)
            by_bit = np.ascontiguousarray(marks.reshape(-1, _OCTET).T)
            for bit in range(_OCTET):
                if used[place] >> bit & 1:
                    yield place * _OCTET + bit, by_bit[bit].nonzero()[0]

    def counts(self) -> tuple[Ints, Ints]:
        """Bits, and how many results each has."""
        found = [(bit, len(results)) for bit, results in self.by_bit()]
        bits, counted = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return bits, counted

    def listed(self) -> Listed:
        """The same as a list."""
        return Listed(*hits(self.lineage))


def _any_row(words: Words) -> Words:
    """The bits that any row has; a single column is gone through as one lane, which is faster."""
    used: Words = np.bitwise_or.reduce(words[:, 0] if words.shape[1] == 1 else words, axis=0, keepdims=True)
    return used.reshape(-1)


@dataclass(frozen=True)
class Listed:
    """Results, and the bit of one that gets it, in order of results."""

    results: Ints
    bits: Ints

    def __len__(self) -> int:
        return len(self.bits)

    def any(self) -> bool:
        """Whether anybody gets anything."""
        return bool(len(self.bits))

    def counts(self) -> tuple[Ints, Ints]:
        """Bits, and how many results each has."""
        counted = np.bincount(self.bits)
        known = np.flatnonzero(counted)
        return known, counted[known]

    def listed(self) -> Listed:
        """The same."""
        return self


Whose = Marked | Listed


def whose(lineage: Words, queries: int) -> Whose:
    """The shorter way to tell it, given how many queries there are; the lineage is kept as it is, or not at all."""
    some, marked = lineage[:: max(1, len(lineage) // _SAMPLE)], Marked(lineage)
    return marked if count_bits(some) * _FEW >= len(some) * queries else marked.listed()


def together(parts: Sequence[tuple[Whose, int]]) -> Whose:
    """Parts with so many results each, one behind the other."""
    if len(parts) == 1:
        return parts[0][0]
    marked = [part for part, _ in parts if isinstance(part, Marked)]
    if len(marked) == len(parts) and marked:
        return Marked(np.concatenate([part.lineage for part in marked]))
    listed, begin = [(np.empty(0, dtype=np.int64),) * 2], 0
    for part, size in parts:
        one = part.listed()
        listed.append((one.results + begin, one.bits))
        begin += size
    results, bits = (np.concatenate(lanes) for lanes in zip(*listed, strict=True))
    return Listed(results, bits)
