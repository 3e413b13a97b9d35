"""The tuples of a stream that joins and count windows still need, stored once for all SteMs and queries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.flows.eddy.bits import Words, widened
from thalweg.flows.eddy.members import Segment
from thalweg.kernel.state.snapshot import Stateful, Tree

_FIRST_CAPACITY = 256  # rows; from then on the capacity is doubled

_NONE = np.empty(0, dtype=np.int64)


class Growing(Stateful, kind="growing-array/1"):
    """Rows of one or several numbers. Capacity is doubled when it is used up, so a row is copied a few times."""

    KEPT = ("_room",)

    def __init__(self, like: Lane) -> None:
        """An empty array for rows like those of `like`."""
        self._room: Lane = like[:0].copy()
        self._first = self._last = 0

    def __len__(self) -> int:
        return self._last - self._first

    @property
    def rows(self) -> Lane:
        """All rows, the oldest first."""
        return self._room[self._first : self._last]

    def append(self, rows: Lane) -> None:
        """Append rows."""
        needed = self._last + len(rows)
        if needed > len(self._room):
            room = np.empty(
                (max(_FIRST_CAPACITY, 2 * (len(self) + len(rows))), *self._room.shape[1:]), dtype=self._room.dtype
            )
            room[: len(self)] = self.rows
            self._room, self._first, self._last = room, 0, len(self)
        self._room[self._last : self._last + len(rows)] = rows
        self._last += len(rows)

    def replace(self, rows: Lane) -> None:
        """Replace all rows."""
        self._room, self._first, self._last = rows, 0, len(rows)

    def forget(self, count: int) -> None:
        """Drop the oldest rows."""
        self._first += count

    def snapshot(self) -> Tree:
        """The rows, without spare capacity."""
        self.replace(self.rows.copy())
        return super().snapshot()

    def restore(self, tree: Tree) -> None:
        """Go back to the rows of a snapshot."""
        self._room = np.empty(0)
        super().restore(tree)
        self._first, self._last = 0, len(self._room)


class StoredTuples(Stateful, kind="eddy-tuples/1"):
    """Columns, ts, number in the stream and in the eddy; lineage by segment, and the code of the key by SteM.

    A tuple is addressed by its position, counted over all tuples ever stored. The oldest leave first, since one
    largest window holds for all.
    """

    KEPT = ("first", "_columns", "_ts", "_ordinal", "_seq", "_lineage", "_codes")

    def __init__(self, schema: Schema) -> None:
        self.first = 0  # the position of the oldest tuple
        self._columns = [Growing(np.empty(0, dtype=lane_dtype(type_))) for type_ in schema.types]
        self._ts, self._ordinal, self._seq = Growing(_NONE), Growing(_NONE), Growing(_NONE)
        self._lineage: dict[str, Growing] = {}
        self._codes: dict[str, Growing] = {}

    def __len__(self) -> int:
        return len(self._ts)

    @property
    def nbytes(self) -> int:
        """The memory that the tuples take."""
        return sum(lane.rows.nbytes for lane in self._lanes())

    @property
    def columns(self) -> list[Lane]:
        """The columns of all tuples."""
        return [lane.rows for lane in self._columns]

    @property
    def ts(self) -> Ints:
        """The ts of all tuples."""
        return self._ts.rows

    @property
    def ordinal(self) -> Ints:
        """The number of each tuple in its stream; tuples that are not stored count too."""
        return self._ordinal.rows

    @property
    def seq(self) -> Ints:
        """The sequence number of each tuple among all streams."""
        return self._seq.rows

    def lineage(self, segment: Segment) -> Words:
        """The bits of all tuples in a segment; older tuples than the segment have none."""
        if segment.name not in self._lineage:
            nothing = np.zeros((len(self), segment.words), dtype=np.uint64)
            self._lineage[segment.name] = Growing(nothing)
            self._lineage[segment.name].append(nothing)
        known = self._lineage[segment.name]
        if known.rows.shape[1] < segment.words:
            known.replace(widened(known.rows, segment.words))
        return known.rows

    def codes(self, stem: str) -> Ints:
        """The codes of all tuples in a SteM; -1 for tuples that it does not have."""
        if stem not in self._codes:
            self._codes[stem] = Growing(_NONE)
            self._codes[stem].append(np.full(len(self), -1))
        return self._codes[stem].rows

    def append(
        self, tuples: Batch, ordinal: Ints, seq: Ints, lineage: Mapping[Segment, Words], codes: Mapping[str, Ints]
    ) -> Ints:
        """Store tuples with their bits by segment and codes by SteM; returns their positions."""
        begin = self.first + len(self)
        for segment, bits in lineage.items():
            self.lineage(segment)
            self._lineage[segment.name].append(bits)
        for stem, new in codes.items():
            self.codes(stem)
            self._codes[stem].append(new)
        lanes = (*self._columns, self._ts, self._ordinal, self._seq)
        for lane, new in zip(lanes, (*tuples.columns, tuples.start, ordinal, seq), strict=True):
            lane.append(new)
        return np.arange(begin, begin + len(tuples))

    def clear(self, segment: Segment, bits: Words) -> None:
        """Clear bits in all tuples, so that other queries can have them."""
        lineage = self.lineage(segment)
        lineage &= ~bits[: lineage.shape[1]]

    def close(self, segment: Segment) -> None:
        """Drop a segment."""
        self._lineage.pop(segment.name, None)

    def forget_stem(self, stem: str) -> None:
        """Drop the codes of a SteM."""
        self._codes.pop(stem, None)

    def forget(self, ended: int) -> None:
        """Drop the oldest tuples."""
        for lane in self._lanes():
            lane.forget(ended)
        self.first += ended

    def _lanes(self) -> list[Growing]:
        more = (*self._lineage.values(), *self._codes.values())
        return [*self._columns, self._ts, self._ordinal, self._seq, *more]
