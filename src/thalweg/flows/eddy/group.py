"""The queries of one shape: their bits, windows, demands and projections (MaddenEtAl2002 §3.3.2)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from weakref import WeakValueDictionary

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.flows.eddy.bits import WORD, Words, bitmap
from thalweg.flows.eddy.links import Link, links_to
from thalweg.flows.eddy.members import Segment
from thalweg.flows.eddy.outputs import GroupOutputs, Projection
from thalweg.flows.eddy.recipients import Recipients, recipients_of
from thalweg.flows.eddy.shape import Apart, Shape, WindowExtent
from thalweg.flows.eddy.steps import BitmapSteps
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning
from thalweg.flows.eddy.values import NO_NULL, compared
from thalweg.kernel.sweep.evaluate import Condition


@dataclass(frozen=True)
class JoinDemand:
    """A condition over several uses, and the bits of the queries that have it."""

    condition: Condition
    bits: set[int]


class ShapeGroup:
    """Bits are assigned one after the other; bits of dropped queries are reused once there are many of them.

    Only then must they be cleared in stored tuples, and indexes be rebuilt.
    """

    def __init__(
        self, name: str, shape: Shape, schemas: Sequence[Schema], pool: StringPool, tuning: EddyTuning = DEFAULT
    ) -> None:
        self.name, self.shape = name, shape
        self.schema = Schema(tuple(field for schema in schemas for field in schema))
        self.offsets = [0, *accumulate(map(len, schemas))]
        self.segments = tuple(Segment(f"{name}.{use}", 1) for use in range(len(shape.streams)))
        self.demands: dict[Expression, JoinDemand] = {}
        self.slots: Ints = np.full(WORD, -1)
        self.projections: list[Projection | None] = [None] * WORD
        self.extents: dict[int, tuple[WindowExtent, ...]] = {}  # by bit
        self.widths: Ints = np.zeros((len(shape.streams), WORD), dtype=np.int64)
        self.rows: Ints = np.zeros_like(self.widths)
        self._free = list(range(WORD))[::-1]
        self._retired: list[int] = []
        self._pool, self._tuning = pool, tuning
        self._known: WeakValueDictionary[tuple[Expression, ...], Projection] = WeakValueDictionary()
        self._within: dict[int, tuple[BitmapSteps | None, BitmapSteps | None]] = {}
        self._counting: dict[int, dict[int, Words]] = {}
        self._takers: GroupOutputs | None = None
        self._links: dict[tuple[int, frozenset[int]], list[Link]] = {}
        self._largest: dict[int, WindowExtent] = {}

    @property
    def words(self) -> int:
        """The words of each of its segments."""
        return self.segments[0].words

    def recipients_of(self, lineage: Words) -> Recipients:
        """The recipients of results with this lineage."""
        return recipients_of(lineage, len(self.extents), self._tuning)

    def outputs(self) -> GroupOutputs:
        """The outputs of the present queries, unaffected by queries that come and go later."""
        if self._takers is None:
            self._takers = GroupOutputs.of(self.slots, self.projections, self.widths)
        return self._takers

    def links(self, use: int, met: frozenset[int]) -> list[Link]:
        """The links from joined uses to another one."""
        if (use, met) not in self._links:
            self._links[use, met] = links_to(self.shape, use, met)
        return self._links[use, met]

    def use_of(self, column: int) -> int:
        """The use that a column belongs to."""
        return bisect_right(self.offsets, column) - 1

    @property
    def is_full(self) -> bool:
        """Whether `make_room` must be called before the next query."""
        return not self._free

    def make_room(self) -> Words | None:
        """Make bits free: those of dropped queries, which are returned, if there are many; else those of new words."""
        if 4 * len(self._retired) >= self.words * WORD:
            used = bitmap(np.array(self._retired), self.words)
            self._free, self._retired = self._retired[::-1], []
            self.slots, self.projections = self.slots.copy(), list(self.projections)  # results refer to the old ones
            return used
        before, words = self.words * WORD, self.words + max(1, self.words // 8)
        more = words * WORD - before
        for segment in self.segments:
            segment.words = words
        self.slots = np.append(self.slots, np.full(more, -1))
        self.projections = [*self.projections, *[None] * more]
        nothing = np.zeros((len(self.widths), more), dtype=np.int64)
        self.widths, self.rows = np.hstack([self.widths, nothing]), np.hstack([self.rows, nothing])
        self._free += range(words * WORD - 1, before - 1, -1)
        self._changed()
        return None

    def add(self, slot: int, apart: Apart, bit: int | None = None) -> int:
        """Assign a query a bit, or the one it had."""
        if bit is None:
            bit = self._free.pop()
        else:
            self._free.remove(bit)
        self.slots[bit] = slot
        self.projections[bit] = self._projection(tuple(item.expression for item in apart.items))
        self.extents[bit] = apart.extents
        self.widths[:, bit] = [extent.width for extent in apart.extents]
        self.rows[:, bit] = [extent.rows for extent in apart.extents]
        for demand in apart.demands:
            if demand not in self.demands:
                self.demands[demand] = JoinDemand(Condition(demand, self.schema, self._pool), set())
            self.demands[demand].bits.add(bit)
        self._changed()
        return bit

    def drop(self, bit: int) -> None:
        """Remove a query; its bit stays unused until room is made."""
        del self.extents[bit]
        for key, demand in list(self.demands.items()):
            demand.bits.discard(bit)
            if not demand.bits:
                del self.demands[key]
        self.widths[:, bit] = self.rows[:, bit] = 0
        self._retired.append(bit)
        self._changed()

    def retire_rest(self) -> None:
        """Treat all unused bits as dirty: stored tuples may have them set."""
        self._retired, self._free = self._free, []

    def largest(self, use: int) -> WindowExtent:
        """How long tuples of a use must be stored: the longest window in time, and the longest in rows."""
        if use not in self._largest:
            counts = self.rows[use] > 0
            width = int(self.widths[use].max(initial=0, where=~counts))
            self._largest[use] = WindowExtent(width, int(self.rows[use].max()))
        return self._largest[use]

    def row_counts(self, use: int) -> dict[int, Words]:
        """By number of rows, the bits of the queries with such a count window over a use."""
        if use not in self._counting:
            rows = self.rows[use]
            counts = np.unique(rows[rows > 0]).tolist()
            self._counting[use] = {n: bitmap(np.flatnonzero(rows == n), self.words) for n in counts}
        return self._counting[use]

    def within(self, use: int) -> tuple[BitmapSteps | None, BitmapSteps | None]:
        """By distance in time and in rows, the queries whose window over a use still covers a tuple.

        None where all windows cover every distance.
        """
        if use not in self._within:
            bits = np.array(list(self.extents), dtype=np.int64)
            extents = [self.extents[bit][use] for bit in bits.tolist()]
            times = [NO_NULL if e.width >= FOREVER else compared("<", e.width).true for e in extents]
            counts = [compared("<", e.rows).true if e.rows else NO_NULL for e in extents]
            in_time, in_rows = (
                None
                if all(s == NO_NULL for s in sets)
                else BitmapSteps(bits, sets, self.words, np.int64, False, self._tuning)
                for sets in (times, counts)
            )
            self._within[use] = in_time, in_rows
        return self._within[use]

    def _projection(self, expressions: tuple[Expression, ...]) -> Projection:
        found = self._known.get(expressions)  # most queries share their projection with others
        if found is None:
            found = self._known[expressions] = Projection(expressions, self.schema, self._pool)
        return found

    def _changed(self) -> None:
        self._within, self._counting, self._takers, self._largest = {}, {}, None, {}
