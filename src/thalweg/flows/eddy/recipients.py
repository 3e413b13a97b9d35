"""Recipients: which query receives which result, as bitmaps if results go to many queries, as a list if to few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.flows.eddy.bits import Words, count_bits, hits
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning

_RESULTS_TO_SAMPLE = 64  # their recipients are counted
_OCTET = 8


@dataclass(frozen=True)
class Marked:
    """Recipients as bitmaps: the lineage of each result."""

    lineage: Words

    def __len__(self) -> int:
        return self._total

    @cached_property
    def _total(self) -> int:
        return count_bits(self.lineage)

    def any(self) -> bool:
        """Whether any result has a recipient."""
        return bool(self.lineage.any())

    def by_bit(self) -> Iterator[tuple[int, Ints]]:
        """Bits, and the results of each, ascending."""
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
        """Bits, and the number of results of each."""
        found = [(bit, len(results)) for bit, results in self.by_bit()]
        bits, counted = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return bits, counted

    def listed(self) -> Listed:
        """The same as a list."""
        return Listed(*hits(self.lineage))


def _any_row(words: Words) -> Words:
    """The bits that any row has; a single column is reduced as one lane, which is faster."""
    used: Words = np.bitwise_or.reduce(words[:, 0] if words.shape[1] == 1 else words, axis=0, keepdims=True)
    return used.reshape(-1)


@dataclass(frozen=True)
class Listed:
    """Recipients as a list: pairs of a result and a bit, in order of results."""

    results: Ints
    bits: Ints

    def __len__(self) -> int:
        return len(self.bits)

    def any(self) -> bool:
        """Whether any result has a recipient."""
        return bool(len(self.bits))

    def counts(self) -> tuple[Ints, Ints]:
        """Bits, and the number of results of each."""
        counted = np.bincount(self.bits)
        known = np.flatnonzero(counted)
        return known, counted[known]

    def listed(self) -> Listed:
        """The same."""
        return self


Recipients = Marked | Listed


def recipients_of(lineage: Words, queries: int, tuning: EddyTuning = DEFAULT) -> Recipients:
    """The shorter form, given the number of queries."""
    some, marked = lineage[:: max(1, len(lineage) // _RESULTS_TO_SAMPLE)], Marked(lineage)
    return marked if count_bits(some) * tuning.list_from_queries >= len(some) * queries else marked.listed()


def together(parts: Sequence[tuple[Recipients, int]]) -> Recipients:
    """Concatenate parts, given the number of results of each."""
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
