"""The results of an eddy's step, by query; batches are made only when asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import FOREVER
from thalweg.flows.eddy.outputs import GroupOutputs
from thalweg.flows.eddy.recipients import Marked, Recipients
from thalweg.kernel.sweep.segments import run_starts

Rows = tuple[Lane, Ints | None]  # a lane, and the rows of each result therein; None: as they are


@dataclass(frozen=True)
class ResultPart:
    """Results of one shape, and the queries that receive each of them.

    A result starts at `at` and has the `ts` of its tuples by use; each query's windows decide when it ends.
    """

    outputs: GroupOutputs
    columns: Sequence[Rows]
    recipients: Recipients
    at: Ints
    ts: Sequence[Rows]
    sign: int = 1
    _lanes: dict[int, Lane] = field(default_factory=dict)  # columns of all results, cached where many queries need them
    _ends: dict[tuple[int, ...], Ints] = field(default_factory=dict)  # ends by the widths of windows, cached likewise

    def counts(self) -> Iterator[tuple[int, int]]:
        """Slots, and the number of results of each."""
        bits, counted = self.recipients.counts()
        yield from zip(self.outputs.slots[bits].tolist(), counted.tolist(), strict=True)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """By slot, the batch of the query's results."""
        if not isinstance(self.recipients, Marked):
            for slots, together in self.packed():
                starts = np.flatnonzero(run_starts(slots))
                for slot, i, j in zip(
                    slots[starts].tolist(), starts.tolist(), [*starts[1:].tolist(), None], strict=True
                ):
                    lanes = tuple([lane[i:j] for lane in together.columns])
                    yield slot, Batch(lanes, together.start[i:j], together.end[i:j], together.sign[i:j])
            return
        signs = np.full(len(self.at), self.sign, dtype=np.int8)
        slots_ = self.outputs.slots.tolist()
        for bit, rows in self.recipients.by_bit():
            columns, end = self._shown(bit, rows), self._end(bit, rows)
            yield slots_[bit], Batch(columns, self.at.take(rows), end, signs[: len(rows)])

    def packed(self) -> Iterator[tuple[Ints, Batch]]:
        """Results with equal projections in one batch, with the slot of each; those of a query are adjacent."""
        listed = self.recipients.listed()
        rank = self.outputs.rank[listed.bits]
        narrow = (
            rank.astype(np.uint16) if len(self.outputs.rank) <= 1 << 16 else rank
        )  # NumPy sorts 16-bit numbers by radix, which is faster
        order = np.argsort(narrow, kind="stable")
        bits, rows = listed.bits.take(order), listed.results.take(order)
        kinds = self.outputs.kinds.take(bits)
        starts = np.flatnonzero(run_starts(kinds)).tolist()
        for i, j in pairwise([*starts, len(kinds)]):
            if i < j:
                yield self.outputs.slots.take(bits[i:j]), self._together(bits[i:j], rows[i:j])

    def _together(self, bits: Ints, rows: Ints) -> Batch:
        """Results of queries with equal projections as one batch."""
        signs = np.full(len(rows), self.sign, dtype=np.int8)
        return Batch(self._shown(int(bits[0]), rows), self.at.take(rows), self._ends_of(bits, rows), signs)

    def _ends_of(self, bits: Ints, rows: Ints) -> Ints:
        end = np.full(len(rows), FOREVER)
        for began, widths in zip(self.ts, self.outputs.widths, strict=True):
            width = widths.take(bits)
            if width.min() < FOREVER:
                np.minimum(end, np.where(width < FOREVER, _taken(began).take(rows) + width, FOREVER), out=end)
        return end

    def _shown(self, bit: int, rows: Ints) -> tuple[Lane, ...]:
        projection = self.outputs.projections[bit]
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
        if not isinstance(self.recipients, Marked):
            return lane.take(where.take(rows))
        self._lanes[column] = lane.take(where)
        return self._lanes[column].take(rows)

    def _end(self, bit: int, rows: Ints) -> Ints:
        widths = tuple(self.outputs.widths[:, bit].tolist())
        if widths not in self._ends:
            self._ends[widths] = _earliest(self.ts, widths, len(self.at))
        if min(widths) >= FOREVER:
            return self._ends[widths][: len(rows)]  # all results have the same end
        return self._ends[widths].take(rows)


def _taken(rows: Rows) -> Lane:
    lane, where = rows
    return lane if where is None else lane.take(where)


def _earliest(began: Sequence[Rows], widths: Sequence[int], results: int) -> Ints:
    """When the first of some windows drops its tuple."""
    end = np.full(results, FOREVER)
    for other in [_taken(ts) + width for ts, width in zip(began, widths, strict=True) if width < FOREVER]:
        np.minimum(end, other, out=end)
    return end


class Delivered:
    """The changes of every query that has any."""

    def __init__(self, parts: Sequence[ResultPart]) -> None:
        self._parts = [part for part in parts if part.recipients.any()]

    def __len__(self) -> int:
        return sum(len(part.recipients) for part in self._parts)

    def counts(self) -> dict[int, int]:
        """By slot, the number of changes."""
        counted: Counter[int] = Counter()
        for part in self._parts:
            counted.update(dict(part.counts()))
        return dict(counted)

    def slots(self) -> Ints:
        """The slot of each change."""
        listed = [part.outputs.slots[part.recipients.listed().bits] for part in self._parts]
        return np.concatenate([np.empty(0, dtype=np.int64), *listed])

    def __iter__(self) -> Iterator[tuple[int, Batch]]:
        """Each slot with its changes, the same as if the query ran alone."""
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
        """All changes in few batches, one for each projection, with the slot of each change."""
        for part in self._parts:
            yield from part.packed()

    def batches(self) -> dict[int, Batch]:
        """The same by slot."""
        return dict(self)
