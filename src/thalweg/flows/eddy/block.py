"""Blocks of tuples that pass through grouped filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.flows.eddy.bits import Words, any_bit, count_bits
from thalweg.flows.eddy.grouped_filter import GroupedFilter, Sight
from thalweg.flows.eddy.routing import Work

_TUPLES_TO_SAMPLE = 128  # their pairs are counted
_APPLY_TO_ALL_FROM = 0.75  # share of tuples that need an operator: then it is applied to all, without a copy


@dataclass
class Stop:
    """An operator on the route of a chunk, with statistics from a sample of the first block."""

    operator: str
    by_most: bool | None = None  # None if unknown
    rates: tuple[float, float, float] | None = None  # pairs per tuple: given, returned, and of tuples that left

    def learn(self, before: Words, after: Words, needs: Words, to_come: Sequence[Words]) -> None:
        """Take statistics from the lineage of a sample, before and after the operator."""
        given, some = before & needs, max(1, len(before))
        gone = given[~any_bit(after & reduce(np.bitwise_or, to_come, needs))]
        self.rates = count_bits(given) / some, count_bits(after & needs) / some, count_bits(gone) / some

    def work(self, tuples: int, seconds: float) -> Work:
        """The operator's work on this many tuples, assuming they are like the sample."""
        given, returned, gone = (round(rate * tuples) for rate in self.rates or (0.0, 0.0, 0.0))
        return Work(self.operator, tuples, given, returned, seconds, gone)


class TupleChunk:
    """Tuples that take one route, block by block; an attribute that all blocks need is evaluated once."""

    def __init__(self, columns: Sequence[Lane], count: int) -> None:
        self.columns, self._count = columns, count
        self._seen: dict[str, Sight] = {}

    def all(self, grouped: GroupedFilter) -> Sight:
        """The pieces of the index that the values of all tuples fall into."""
        if grouped.name not in self._seen:
            self._seen[grouped.name] = grouped.look_at(self.columns, slice(None), self._count)
        return self._seen[grouped.name]


class LineageBlock:
    """Tuples with their lineage and, by layer, the clauses that are true so far (MaddenEtAl2002 §3.2.7)."""

    def __init__(self, chunk: TupleChunk, rows: slice, members: Words, having: Mapping[int, Words]) -> None:
        """All tuples start with the bits of all members; `having` has, by layer, the members with such a clause."""
        self._chunk, self._rows, self._having = chunk, rows, having
        shape = (rows.stop - rows.start, len(members))
        self.lineage: Words = np.broadcast_to(members.copy(), shape)
        self._clauses = {layer: np.zeros(shape, dtype=np.uint64) for layer in having}

    def __len__(self) -> int:
        return len(self.lineage)

    def with_any(self, bits: Words) -> Ints:
        """The tuples that have any of these bits."""
        return np.flatnonzero(any_bit(self.lineage & bits))

    def mostly_have(self, bits: Words) -> bool:
        """Whether most tuples of a sample have any of these bits."""
        some = self.lineage[:_TUPLES_TO_SAMPLE]
        return int(np.count_nonzero(any_bit(some & bits))) >= _APPLY_TO_ALL_FROM * len(some)

    def some(self, rows: Ints | None) -> Words:
        """The lineage of a sample of these tuples, or of all."""
        return self.lineage[:_TUPLES_TO_SAMPLE] if rows is None else self.lineage[rows[:_TUPLES_TO_SAMPLE]]

    def apply(self, grouped: GroupedFilter, rows: Ints | None) -> None:
        """Apply a filter to some tuples, or to all."""
        if rows is None or len(rows) >= _APPLY_TO_ALL_FROM * len(self):
            self.lineage = grouped.apply(self._chunk.all(grouped), self._rows, self.lineage, self._clauses)
            return
        parts = {layer: matrix[rows] for layer, matrix in self._clauses.items()}
        sight = grouped.look_at(self._chunk.columns, rows + self._rows.start, len(rows))
        part = grouped.apply(sight, slice(None), self.lineage[rows], parts)
        if not self.lineage.flags.writeable:
            self.lineage = self.lineage.copy()
        self.lineage[rows] = part
        for layer, matrix in self._clauses.items():
            matrix[rows] = parts[layer]

    def decide(self, to_come: Iterable[GroupedFilter]) -> None:
        """Clear the bits of queries with a false clause, once no later filter can make it true."""
        if not self._clauses:
            return
        left = frozenset().union(*(grouped.layers for grouped in to_come))
        for layer in [layer for layer in self._clauses if layer not in left]:
            self.lineage = self.lineage & (self._clauses.pop(layer) | ~self._having[layer])
