"""Inner join: by equalities, by any condition, or by rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import Run
from thalweg.kernel.state.time_index import TimeIndex
from thalweg.kernel.sweep.join_keys import NO_PARTNER, JoinKeys, rest_of
from thalweg.kernel.sweep.matches import Matches, assemble
from thalweg.kernel.sweep.pairs import pairs
from thalweg.kernel.sweep.segments import slices_to_rows

_FAR_FEWER = 16  # times


class Join(Operator, kind="join/1"):
    """L |x| R = { lr : l in L, r in R, condition(lr) }, alive while both are, with the product of their signs.

    New pairs are (new L) x (old R) + (old L) x (new R) + (new L) x (new R). Dates: ts the later, exp the earlier; or
    the left's own.

    Update pattern: WK over windows, STR if an input is, MON over streams. State: the tuples of both sides until they
    end, each side in the buffer given for it. GolabOzsu2005 §2.2 and 5.3; GhanemEtAl2007 §4.2 for negative
    tuples.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("_keys", "_old_left", "_old_right")

    def __init__(
        self,
        left: Schema,
        right: Schema,
        condition: Expression,
        pool: StringPool,
        dated: bool,
        *,
        buffers: tuple[Buffer, Buffer],
        direct: tuple[bool, bool] = (False, False),
        null_safe: Sequence[tuple[int, int]] = (),
        dates_from_left: bool = False,
    ) -> None:
        """Partners are looked up by the condition's equalities, and by pairs of columns where NULL equals NULL.

        The buffers are empty, and nobody else's. `direct` says which sides come without negative tuples.
        """
        self._rest = rest_of(condition, left, right, pool)
        self._keys = JoinKeys(left, right, condition, pool, null_safe)
        self._old_left, self._old_right = buffers
        self._direct = direct
        self._dates_from_left = dates_from_left
        self._nothing = Batch.empty(left + right, dated)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Partners have equal keys."""
        return self._keys.sides

    @property
    def takes_copies(self) -> bool:
        """Each left tuple finds its partners alone."""
        return True

    @property
    def stored(self) -> int:
        """The tuples of both sides."""
        return len(self._old_left) + len(self._old_right)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pairs that something new is part of."""
        left = _Told(self._keys.of_left(inputs[0]), inputs[0], self._old_left, self._direct[0])
        right = _Told(self._keys.of_right(inputs[1]), inputs[1], self._old_right, self._direct[1])
        begun = min(int(side.all.tuples.start.min(initial=now)) for side in (left, right))
        found = [
            *self._with_old_right(left.all),
            *self._with_old_left(right.all),
            *self._together(left.kept, right.kept),
            # Old tuples that are deleted in this batch are no longer stored; until then they are met here.
            *self._together(left.kept, right.until_deleted(begun)),
            *self._together(left.until_deleted(begun), right.all),
            *self._together(left.deleting, right.deleted(begun)),
        ]
        for buffer, side in ((self._old_left, left), (self._old_right, right)):
            buffer.keep(side.kept, now)
            buffer.expire(now)
        return assemble(found, self._nothing, self._dates_from_left)

    def _with_old_right(self, left: Keyed) -> Iterator[Matches]:
        for run, first, count in self._old_right.probe(left.codes):
            for i, j in pairs(first, count):
                yield self._meet(left.tuples, i, run, j, left.tuples.start[i])

    def _with_old_left(self, right: Keyed) -> Iterator[Matches]:
        for run, first, count in self._old_left.probe(right.codes):
            for j, i in pairs(first, count):
                yield self._meet(run, i, right.tuples, j, right.tuples.start[j])

    def _together(self, left: Keyed, right: Keyed) -> Iterator[Matches]:
        if not len(left) or not len(right):
            return
        left, right = _that_meet(left, right), _that_meet(right, left)
        mine, theirs = left.tuples, right.tuples
        index = TimeIndex(right.codes, theirs.start, theirs.end)
        theirs = theirs.take(index.order)
        for i, j in pairs(*index.find(left.codes, mine.start, mine.end)):
            yield self._meet(mine, i, theirs, j, np.maximum(mine.start[i], theirs.start[j]))

    def _meet(self, left: Batch | Run, i: Ints, right: Batch | Run, j: Ints, start: Ints) -> Matches:
        """The pairs of rows i and j that are alive together, from `start` on, and fulfil the condition."""
        end = np.minimum(left.end[i], right.end[j])
        met = Matches(left, i, right, j, start, end)
        alive = start < end
        return (met if alive.all() else met.take(alive)).where(self._rest)


def _that_meet(tuples: Keyed, others: Keyed) -> Keyed:
    """Those that others have the join keys of; all of them, unless the others are far fewer."""
    if _FAR_FEWER * len(others) > len(tuples):
        return tuples
    return tuples.take(slices_to_rows(*tuples.slices(np.unique(others.codes))))


class _Told:
    """What a batch tells of one side; what it deletes is taken out of the buffer.

    With `old` the tuples that were stored, `new` what is told: old + new = stored + until_deleted + kept, where
    new = kept + deleting and old = stored + deleted.
    """

    def __init__(self, codes: Ints, batch: Batch, buffer: Buffer, direct: bool) -> None:
        known = codes != NO_PARTNER
        keyed = Keyed.for_good if direct else Keyed.of
        told = keyed(codes, batch) if known.all() else keyed(codes[known], batch.take(known))
        self.all = told.closed()
        matched = buffer.delete(self.all)
        self.deleting = self.all.take(matched)
        self.kept = self.all.take(~matched) if len(self.deleting) else self.all

    def until_deleted(self, begun: Instant) -> Keyed:
        """The old tuples that are deleted, until then; `begun` is an instant by which they had."""
        tuples = self.deleting.tuples.negated()
        start = np.full(len(tuples), begun)
        return replace(self.deleting, tuples=replace(tuples, start=start, end=tuples.start)).take(start < tuples.start)

    def deleted(self, begun: Instant) -> Keyed:
        """The old tuples that are deleted, as they would have been."""
        tuples = self.deleting.tuples.negated()
        return replace(self.deleting, tuples=replace(tuples, start=np.full(len(tuples), begun)))
