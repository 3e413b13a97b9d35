"""Inner join over physical windows that stores its results by the tuples they consist of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from thalweg.algebra.expressions import Column, Expression, map_columns
from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import LONGEST, Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.join import Join
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.buffers.order_index import LEFT, RIGHT, OrderIndex
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.sweep.matches import assemble
from thalweg.kernel.sweep.ordered_join_side import OrderedJoinSide, SideChanges
from thalweg.kernel.tuning import DEFAULT, Tuning


class OrderedJoin(Join, kind="ordered-join/1"):
    """L |x| R for inputs whose last column numbers their tuples (see `Number`); the output lacks these columns.

    New pairs are found as in Join. When a negative tuple says that the tuple with its number leaves, two catalogues
    lead to the results of that tuple: the other side is not probed, and the condition is not evaluated again.

        t        1          2            3
        left     +a[1,F)                 -a[3,F)
        right               +b[2,F)
        output              +ab[2,F)     -ab[3,F)       found by a's number

    Update pattern: WK by order of expiration. State: the tuples of both sides, and for each alive result the places of
    its two tuples. Paper: PatroumpasSellis2011 §4.2 (windowed join) and Figure 8 (ORD).
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
        tuning: Tuning = DEFAULT,
        most_results: int = LONGEST,
    ) -> None:
        """`left` and `right` have the number as their last column; the condition refers to the columns without it."""
        width = len(left) - 1

        def numbered(c: Column) -> Column:
            return c if c.index < width else Column(c.index + 1, c.type, c.name)

        super().__init__(
            left, right, map_columns(condition, numbered), pool, dated,
            buffers=buffers, tuning=tuning, most_results=most_results,
        )  # fmt: skip
        self._left, self._right = OrderedJoinSide(left, dated, tuning), OrderedJoinSide(right, dated, tuning)
        self._results = OrderIndex(tuning)
        self._place_columns = (width, len(left) + len(right) - 1)

    @property
    def stored(self) -> int:
        """The stored tuples of both sides, and the alive results."""
        return super().stored + len(self._results)

    @property
    def makes_pieces(self) -> bool:
        """All results are stored, so they fit into memory."""
        return False

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """All results in one piece."""
        return Operator.pieces(self, inputs, now)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pairs with a new tuple, and negative tuples for the results of tuples that leave."""
        left = self._left.apply(self._keys.of_left(inputs[0]), inputs[0], now)
        right = self._right.apply(self._keys.of_right(inputs[1]), inputs[1], now)
        self._old_left.delete(left.leaving)
        self._old_right.delete(right.leaving)
        begun = min(int(batch.start.min(initial=now)) for batch in inputs)
        self._new = (left.arrived, right.arrived)
        found = chain(
            self._with_old_right(left.arrived),
            self._with_old_left(right.arrived),
            self._among_new(left.arrived, right.arrived),
            # Tuples that leave in this batch are no longer in the buffers, but have partners until then.
            self._among_new(left.arrived, _until_left(right, begun)),
            self._among_new(_until_left(left, begun), right.arrived),
        )
        pairs = assemble(list(self._limited(found)), self._nothing, dates_from_left=False)
        self._new = None
        output = [self._without_places(pairs), *self._ended_results(left, right)]
        alive = pairs.end > now
        self._results.add(*(pairs.columns[place][alive] for place in self._place_columns))
        self._store(left, right, now)
        return Batch.concat(output)

    def _without_places(self, pairs: Batch) -> Batch:
        return pairs.with_columns([c for i, c in enumerate(pairs.columns) if i not in self._place_columns])

    def _ended_results(self, left: SideChanges, right: SideChanges) -> Iterator[Batch]:
        """Negative tuples for the results of tuples that leave; a result ends when the first of its tuples leaves."""
        for side, places in ((LEFT, left.places), (RIGHT, right.places)):
            ended = self._results.leave(side, places)
            if ended is not None:
                yield self._negative(*ended)

    def _negative(self, i: Ints, j: Ints) -> Batch:
        left, right = self._left, self._right
        start = np.minimum(left.places.leaves_at[i], right.places.leaves_at[j])
        end = np.minimum(left.end(i), right.end(j))
        dates = None
        if self._nothing.dates is not None:
            a, b = left.dates(i), right.dates(j)
            dates = Dates(np.maximum(a.ts, b.ts), np.minimum(a.exp, b.exp))
        signs = np.full(len(i), -1, dtype=np.int8)
        ended = Batch((*left.columns(i), *right.columns(j)), start, end, signs, dates)
        return ended.between(start, end)

    def _store(self, left: SideChanges, right: SideChanges, now: Instant) -> None:
        """Store arrivals, and free the places of tuples that have left."""
        self._old_left.keep(left.arrived, now)
        self._old_right.keep(right.arrived, now)
        for which, buffer, side, changes in (
            (LEFT, self._old_left, self._left, left),
            (RIGHT, self._old_right, self._right, right),
        ):
            buffer.expire(now)
            side.places.vacate(changes.places)
            ended = side.ended(now)
            self._results.leave(which, ended)  # they were emitted with their ends, and need no negative tuples
            side.places.vacate(ended)
        self._keys.forget(self._named_codes)

    def _named_codes(self) -> Iterator[Ints]:
        """The codes of all stored tuples."""
        yield from super()._named_codes()
        yield from (side.codes() for side in (self._left, self._right))


def _until_left(changes: SideChanges, begun: Instant) -> Keyed:
    """Stored tuples that leave in this batch, cut at their departure; all of them started by `begun`."""
    leaving = changes.leaving.tuples.negated()
    start = np.full(len(leaving), begun)
    before = replace(leaving, start=start, end=leaving.start)
    return replace(changes.leaving, tuples=before).take(start < leaving.start)
