"""What a step of the eddy delivers to which query; batches are made only for those who ask for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import FOREVER
from thalweg.eddy.group import Group, Projection


@dataclass(frozen=True)
class Part:
    """Results of one shape, and which queries get which of them.

    `columns` are lanes and the rows of each result therein; `bits[k]` gets result `results[k]`, from `start[k]` until
    `end[k]`.
    """

    columns: Sequence[tuple[Lane, Ints]]
    results: Ints
    bits: Ints
    start: Ints
    end: Ints
    sign: int
    slots: Ints
    projections: Sequence[Projection | None]

    @staticmethod
    def of(
        group: Group,
        columns: Sequence[tuple[Lane, Ints]],
        hits: tuple[Ints, Ints],
        at: Ints,
        ts: Sequence[Ints],
        sign: int = 1,
    ) -> Part:
        """Results that begin `at`, with the ts of their parts by use; a query's windows say when they end for it."""
        results, bits = hits
        end = np.full(len(results), FOREVER)
        for use, began in enumerate(ts):
            np.minimum(end, began[results] + group.widths[use][bits], out=end)
        return Part(columns, results, bits, at[results], end, sign, group.slots, group.projections)

    def counts(self) -> Iterator[tuple[int, int]]:
        """Slots, and how many results each gets."""
        counted = np.bincount(self.bits)
        known = np.flatnonzero(counted)
        yield from zip(self.slots[known].tolist(), counted[known].tolist(), strict=True)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """By slot the batch that the query gets."""
        order = np.argsort(self.bits, kind="stable")
        bounds = np.flatnonzero(np.append(True, np.diff(self.bits[order]) != 0)) if len(order) else order
        for mine in np.split(order, bounds[1:]) if len(order) else ():
            projection = self.projections[self.bits[mine[0]]]
            assert projection is not None
            yield int(self.slots[self.bits[mine[0]]]), self._batch(mine, projection)

    def _batch(self, mine: Ints, projection: Projection) -> Batch:
        rows = self.results[mine]
        lanes = [lane[where[rows]] if i in projection.reads else lane for i, (lane, where) in enumerate(self.columns)]
        signs = np.full(len(mine), self.sign, dtype=np.int8)
        return Batch(projection(lanes, len(mine)), self.start[mine], self.end[mine], signs)


class Delivered:
    """The gain of every query that gains anything."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [part for part in parts if len(part.bits)]

    def __len__(self) -> int:
        return sum(len(part.bits) for part in self._parts)

    def counts(self) -> dict[int, int]:
        """By slot the number of signed tuples that its query gains."""
        counted: Counter[int] = Counter()
        for part in self._parts:
            counted.update(dict(part.counts()))
        return dict(counted)

    def slots(self) -> Ints:
        """For each signed tuple the slot that gains it."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(part.slots[part.bits] for part in self._parts)])

    def batches(self) -> dict[int, Batch]:
        """By slot what its query gains: what it would gain alone."""
        found: dict[int, list[Batch]] = {}
        for part in self._parts:
            for slot, batch in part.batches():
                found.setdefault(slot, []).append(batch)
        return {slot: Batch.concat(batches) for slot, batches in found.items()}
