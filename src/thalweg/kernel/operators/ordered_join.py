"""Inner join over physical windows that remembers its results by the tuples they consist of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from thalweg.algebra.expressions import Column, Expression, map_columns
from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operators.join import Join
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.buffers.order_index import LEFT, RIGHT, OrderIndex
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.sweep.matches import assemble
from thalweg.kernel.sweep.ordered_side import OrderedSide, OrderedTold


class OrderedJoin(Join, kind="ordered-join/1"):
    """The join of two inputs whose last column numbers their tuples (see `Number`); it is not part of the output.

    New pairs are found as in Join. When a tuple leaves, told by a negative tuple with its number, the catalogues lead
    to the pairs it takes along: the other side is not probed and the condition not looked at again.

        t        1          2            3
        left     +a[1,F)                 -a[3,F)
        right               +b[2,F)
        output              +ab[2,F)     -ab[3,F)       found by a's number

    Update pattern: WK by order of expiration. State: the tuples of both sides, and the places of both tuples of each
    result that is there. PatroumpasSellis2011 §4.2 (windowed join) and Figure 8 (ORD).
    """

    KEPT = (*Join.KEPT, "_left", "_right", "_results")

    def __init__(
        self,
        left: Schema,
        right: Schema,
        condition: Expression,
        pool: StringPool,
        dated: bool,
        *,
        buffers: tuple[Buffer, Buffer],
    ) -> None:
        """`left` and `right` have the number as their last column; the condition does not know of it."""
        width = len(left) - 1

        def numbered(c: Column) -> Column:
            return c if c.index < width else Column(c.index + 1, c.type, c.name)

        super().__init__(left, right, map_columns(condition, numbered), pool, dated, buffers=buffers)
        self._left, self._right = OrderedSide(left, dated), OrderedSide(right, dated)
        self._results = OrderIndex()
        self._place_columns = (width, len(left) + len(right) - 1)

    @property
    def stored(self) -> int:
        """The tuples of both sides, and the results."""
        return super().stored + len(self._results)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pairs that something new is part of, and those that what leaves is part of."""
        left = self._left.tell(self._keys.of_left(inputs[0]), inputs[0], now)
        right = self._right.tell(self._keys.of_right(inputs[1]), inputs[1], now)
        self._old_left.delete(left.leaving)
        self._old_right.delete(right.leaving)
        begun = min(int(batch.start.min(initial=now)) for batch in inputs)
        found = [
            *self._with_old_right(left.arrived),
            *self._with_old_left(right.arrived),
            *self._together(left.arrived, right.arrived),
            # Stored tuples that leave in this batch are no longer stored; until then they are met here.
            *self._together(left.arrived, _until_left(right, begun)),
            *self._together(_until_left(left, begun), right.arrived),
        ]
        met = assemble(found, self._nothing, dates_from_left=False)
        output = [self._told(met), *self._taken_along(left, right)]
        alive = met.end > now
        self._results.add(*(met.columns[place][alive] for place in self._place_columns))
        self._store(left, right, now)
        return Batch.concat(output)

    def _told(self, met: Batch) -> Batch:
        """The output has no places."""
        return met.with_columns([c for i, c in enumerate(met.columns) if i not in self._place_columns])

    def _taken_along(self, left: OrderedTold, right: OrderedTold) -> Iterator[Batch]:
        """Negative tuples for the results of who leaves; if both tuples of a result do, it goes with the first."""
        for side, places in ((LEFT, left.places), (RIGHT, right.places)):
            taken = self._results.leave(side, places)
            if taken is not None:
                yield self._gone(*taken)

    def _gone(self, i: Ints, j: Ints) -> Batch:
        left, right = self._left, self._right
        start = np.minimum(left.places.leaves_at[i], right.places.leaves_at[j])
        end = np.minimum(left.end(i), right.end(j))
        dates = None
        if self._nothing.dates is not None:
            mine, theirs = left.dates(i), right.dates(j)
            dates = Dates(np.maximum(mine.ts, theirs.ts), np.minimum(mine.exp, theirs.exp))
        signs = np.full(len(i), -1, dtype=np.int8)
        gone = Batch((*left.columns(i), *right.columns(j)), start, end, signs, dates)
        return gone.between(start, end)

    def _store(self, left: OrderedTold, right: OrderedTold, now: Instant) -> None:
        """Arrivals stay; places of who has left fall free."""
        self._old_left.keep(left.arrived, now)
        self._old_right.keep(right.arrived, now)
        for which, store, side, told in (
            (LEFT, self._old_left, self._left, left),
            (RIGHT, self._old_right, self._right, right),
        ):
            store.expire(now)
            side.places.vacate(told.places)
            ended = side.ended(now)
            self._results.leave(which, ended)  # they said so when they came
            side.places.vacate(ended)


def _until_left(told: OrderedTold, begun: Instant) -> Keyed:
    """The stored tuples that leave, until then; `begun` is an instant by which they had begun."""
    leaving = told.leaving.tuples.negated()
    start = np.full(len(leaving), begun)
    before = replace(leaving, start=start, end=leaving.start)
    return replace(told.leaving, tuples=before).take(start < leaving.start)
