"""What a step of the eddy delivers to which query; batches are made only for those who ask for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import FOREVER
from thalweg.flows.eddy.takers import Takers
from thalweg.flows.eddy.whose import Marked, Whose
from thalweg.kernel.sweep.segments import run_starts

Rows = tuple[Lane, Ints | None]  # a lane, and the rows of each result therein; None: as they are


@dataclass(frozen=True)
class Part:
    """Results of one shape, and which queries get which of them.

    A result begins `at` and has the `ts` of its parts by use; a query's windows say when it ends for it.
    """

    takers: Takers
    columns: Sequence[Rows]
    whose: Whose
    at: Ints
    ts: Sequence[Rows]
    sign: int = 1
    _lanes: dict[int, Lane] = field(default_factory=dict)  # columns of all results, where many queries get them
    _ends: dict[tuple[int, ...], Ints] = field(default_factory=dict)  # the same, by the widths of windows

    def counts(self) -> Iterator[tuple[int, int]]:
        """Slots, and how many results each gets."""
        bits, counted = self.whose.counts()
        yield from zip(self.takers.slots[bits].tolist(), counted.tolist(), strict=True)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """By slot the batch that the query gets."""
        if not isinstance(self.whose, Marked):
            for slots, together in self.packed():
                starts = np.flatnonzero(run_starts(slots))
                for slot, i, j in zip(
                    slots[starts].tolist(), starts.tolist(), [*starts[1:].tolist(), None], strict=True
                ):
                    lanes = tuple([lane[i:j] for lane in together.columns])
                    yield slot, Batch(lanes, together.start[i:j], together.end[i:j], together.sign[i:j])
            return
        signs = np.full(len(self.at), self.sign, dtype=np.int8)
        slots_ = self.takers.slots.tolist()
        for bit, rows in self.whose.by_bit():
            columns, end = self._shown(bit, rows), self._end(bit, rows)
            yield slots_[bit], Batch(columns, self.at.take(rows), end, signs[: len(rows)])

    def packed(self) -> Iterator[tuple[Ints, Batch]]:
        """Results that show the same, with the slot of the query that gets each; those of a query stand together."""
        listed = self.whose.listed()
        rank = self.takers.rank[listed.bits]
        narrow = rank.astype(np.uint16) if len(self.takers.rank) <= 1 << 16 else rank  # sorted by digits: faster
        order = np.argsort(narrow, kind="stable")
        bits, rows = listed.bits.take(order), listed.results.take(order)
        kinds = self.takers.kinds.take(bits)
        starts = np.flatnonzero(run_starts(kinds)).tolist()
        for i, j in pairwise([*starts, len(kinds)]):
            if i < j:
                yield self.takers.slots.take(bits[i:j]), self._together(bits[i:j], rows[i:j])

    def _together(self, bits: Ints, rows: Ints) -> Batch:
        """Results of queries that show the same, as one batch."""
        signs = np.full(len(rows), self.sign, dtype=np.int8)
        return Batch(self._shown(int(bits[0]), rows), self.at.take(rows), self._ends_of(bits, rows), signs)

    def _ends_of(self, bits: Ints, rows: Ints) -> Ints:
        end = np.full(len(rows), FOREVER)
        for began, widths in zip(self.ts, self.takers.widths, strict=True):
            width = widths.take(bits)
            if width.min() < FOREVER:
                np.minimum(end, np.where(width < FOREVER, _taken(began).take(rows) + width, FOREVER), out=end)
        return end

    def _shown(self, bit: int, rows: Ints) -> tuple[Lane, ...]:
        projection = self.takers.projections[bit]
        assert projection is not None
        if projection.columns is not None:
            return tuple([self._lane(column, rows) for column in projection.columns])
        lanes = [self._lane(i, rows) if i in projection.reads else lane for i, (lane, _) in enumerate(self.columns)]
        return projection(lanes, len(rows))

    def _lane(self, column: int, rows: Ints) -> Lane:
        if column in self._lanes:
            return self._lanes[column].take(rows)
        lane, where = self.columns[column]
        if where is None:
            return lane.take(rows)
        if not isinstance(self.whose, Marked):
            return lane.take(where.take(rows))
        self._lanes[column] = lane.take(where)
        return self._lanes[column].take(rows)

    def _end(self, bit: int, rows: Ints) -> Ints:
        widths = tuple(self.takers.widths[:, bit].tolist())
        if widths not in self._ends:
            self._ends[widths] = _earliest(self.ts, widths, len(self.at))
        if min(widths) >= FOREVER:
            return self._ends[widths][: len(rows)]  # all are alike
        return self._ends[widths].take(rows)


def _taken(rows: Rows) -> Lane:
    lane, where = rows
    return lane if where is None else lane.take(where)


def _earliest(began: Sequence[Rows], widths: Sequence[int], results: int) -> Ints:
    """When the first of some windows lets its tuple go."""
    end = np.full(results, FOREVER)
    for other in [_taken(ts) + width for ts, width in zip(began, widths, strict=True) if width < FOREVER]:
        np.minimum(end, other, out=end)
    return end


class Delivered:
    """The gain of every query that gains anything."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [part for part in parts if part.whose.any()]

    def __len__(self) -> int:
        return sum(len(part.whose) for part in self._parts)

    def counts(self) -> dict[int, int]:
        """By slot the number of signed tuples that its query gains."""
        counted: Counter[int] = Counter()
        for part in self._parts:
            counted.update(dict(part.counts()))
        return dict(counted)

    def slots(self) -> Ints:
        """For each signed tuple the slot that gains it."""
        listed = [part.takers.slots[part.whose.listed().bits] for part in self._parts]
        return np.concatenate([np.empty(0, dtype=np.int64), *listed])

    def __iter__(self) -> Iterator[tuple[int, Batch]]:
        """Slots and what their queries gain, one after the other: what each would gain alone."""
        if len(self._parts) == 1:
            yield from self._parts[0].batches()
            return
        found: dict[int, list[Batch]] = {}
        for part in self._parts:
            for slot, batch in part.batches():
                found.setdefault(slot, []).append(batch)
        for slot, batches in found.items():
            yield slot, Batch.concat(batches)

    def packed(self) -> Iterator[tuple[Ints, Batch]]:
        """All gains in few batches, each of results that show the same, with the slot that gains each."""
        for part in self._parts:
            yield from part.packed()

    def batches(self) -> dict[int, Batch]:
        """The same by slot."""
        return dict(self)
