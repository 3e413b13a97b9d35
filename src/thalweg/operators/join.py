"""Inner join: by equalities, by any condition, or by rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.operators.base import Operator
from thalweg.operators.join_keys import NO_PARTNER, JoinKeys, rest_of
from thalweg.operators.matches import Matches, assemble
from thalweg.operators.pairs import pairs
from thalweg.state.intervals import IntervalStore
from thalweg.state.keyed import Keyed
from thalweg.state.run import Run
from thalweg.state.time_index import TimeIndex


class Join(Operator):
    """L |x| R = { lr : l in L, r in R, condition(lr) }, alive while both are, with the product of their signs.

    New pairs are (new L) x (all R) + (old L) x (new R). Dates: ts the later, exp the earlier; or the left's own.

    Update pattern: WK over windows, STR if an input is, MON over streams. State: the tuples of both sides until they
    end, each side in an IntervalStore. Seed 000, sections 2.2 and 5.3; seed 001, section 4.2 for negative tuples.
    """

    def __init__(
        self,
        left: Schema,
        right: Schema,
        condition: Expression,
        pool: StringPool,
        dated: bool,
        *,
        null_safe: Sequence[tuple[int, int]] = (),
        dates_from_left: bool = False,
        partitions: int = 10,
    ) -> None:
        """Partners are looked up by the condition's equalities, and by pairs of columns where NULL equals NULL."""
        self._rest = rest_of(condition, left, right, pool)
        self._keys = JoinKeys(left, right, condition, pool, null_safe)
        self._old_left, self._old_right = IntervalStore(partitions), IntervalStore(partitions)
        self._dates_from_left = dates_from_left
        self._nothing = Batch.empty(left + right, dated)

    @property
    def stored(self) -> int:
        """The tuples of both sides."""
        return len(self._old_left) + len(self._old_right)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pairs that something new is part of."""
        left = _arrivals(self._keys.of_left(inputs[0]), inputs[0])
        right = _arrivals(self._keys.of_right(inputs[1]), inputs[1])
        deleting = self._old_right.delete(right)
        others = right.take(~deleting) if deleting.any() else right
        found = [
            *self._new_by_old(left),
            *self._new_by_new(left, others, right.take(deleting)),
            *self._old_by_new(right),
        ]
        for store, arrivals in ((self._old_left, left), (self._old_right, others)):
            store.keep(arrivals, now)
            store.expire(now)
        return assemble(found, self._nothing, self._dates_from_left)

    def _new_by_old(self, left: Keyed) -> Iterator[Matches]:
        for run, first, count in self._old_right.probe(left.codes):
            for i, j in pairs(first, count):
                yield self._meet(left.tuples, i, run, j, left.tuples.start[i])

    def _old_by_new(self, right: Keyed) -> Iterator[Matches]:
        for run, first, count in self._old_left.probe(right.codes):
            for j, i in pairs(first, count):
                yield self._meet(run, i, right.tuples, j, right.tuples.start[j])

    def _new_by_new(self, left: Keyed, right: Keyed, deleting: Keyed) -> Iterator[Matches]:
        """New left tuples by new right ones, and by old ones that are deleted in this batch, until they are."""
        if not len(left):
            return
        met, codes = right.tuples, right.codes
        if len(deleting):
            begun, until = left.tuples.start.min(), deleting.tuples.start
            old = deleting.tuples.negated().between(np.full(len(deleting), begun), until)
            met, codes = Batch.concat([met, old]), np.append(codes, deleting.codes[begun < until])
        index = TimeIndex(codes, met.start, met.end)
        met = met.take(index.order)
        for i, j in pairs(*index.find(left.codes, left.tuples.start, left.tuples.end)):
            yield self._meet(left.tuples, i, met, j, np.maximum(left.tuples.start[i], met.start[j]))

    def _meet(self, left: Batch | Run, i: Ints, right: Batch | Run, j: Ints, start: Ints) -> Matches:
        """The pairs of rows i and j that are alive together, from `start` on, and fulfil the condition."""
        end = np.minimum(left.end[i], right.end[j])
        met = Matches(left, i, right, j, start, end)
        alive = start < end
        return (met if alive.all() else met.take(alive)).where(self._rest)


def _arrivals(codes: Ints, batch: Batch) -> Keyed:
    """The tuples that can have partners."""
    known = codes != NO_PARTNER
    arrivals = Keyed.of(codes, batch) if known.all() else Keyed.of(codes[known], batch.take(known))
    return arrivals.closed()
