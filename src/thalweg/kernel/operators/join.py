"""Inner join."""

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
from thalweg.kernel.state.indexes import TimeIndex
from thalweg.kernel.state.keyed import Keyed, codes_of
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.join_keys import NO_PARTNER, JoinKeys, rest_of
from thalweg.kernel.sweep.matches import Matches, assemble
from thalweg.kernel.sweep.pairs import pairs
from thalweg.kernel.sweep.segments import slices_to_rows
from thalweg.kernel.tuning import DEFAULT, Tuning


class Join(Operator, kind="join/1"):
    """L |x| R = { lr : l in L, r in R, condition(lr) }, alive while both are, with the product of their signs.

    New pairs are (new L) x (old R) + (old L) x (new R) + (new L) x (new R). A pair is dated by the later ts and the
    earlier exp, or by the dates of the left tuple.

    Update pattern: WK over windows, STR if an input is STR, MON over streams. State: the tuples of both sides until
    they end, each side in its buffer. Cost: one probe for each new tuple and run of the other side's buffer.
    Papers: GolabOzsu2005 §2.2, §5.3; GhanemEtAl2007 §4.2 for negative tuples.
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
        tuning: Tuning = DEFAULT,
    ) -> None:
        """Partners are looked up by the condition's equalities, and by pairs of columns where NULL equals NULL.

        The buffers must be empty, and no other operator may use them. `direct` says which sides have no negative
        tuples.
        """
        self._rest = rest_of(condition, left, right, pool)
        self._keys = JoinKeys(left, right, condition, pool, null_safe)
        self._old_left, self._old_right = buffers
        self._direct = direct
        self._dates_from_left = dates_from_left
        self._nothing = Batch.empty(left + right, dated)
        self._tuning = tuning

    @property
    def keys(self) -> tuple[Key, ...]:
        """Partners have equal join keys."""
        return self._keys.sides

    @property
    def allows_broadcast(self) -> bool:
        """The right side can be broadcast: the results of a left tuple do not depend on other left tuples."""
        return True

    @property
    def stored(self) -> int:
        """The stored tuples of both sides."""
        return len(self._old_left) + len(self._old_right)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pairs with a new tuple."""
        left = _NewTuples(self._keys.of_left(inputs[0]), inputs[0], self._old_left, self._direct[0])
        right = _NewTuples(self._keys.of_right(inputs[1]), inputs[1], self._old_right, self._direct[1])
        begun = min(int(side.all.tuples.start.min(initial=now)) for side in (left, right))
        found = [
            *self._with_old_right(left.all),
            *self._with_old_left(right.all),
            *self._among_new(left.kept, right.kept),
            # Old tuples that this batch deletes are no longer in the buffers, but have partners until their deletion.
            *self._among_new(left.kept, right.until_deleted(begun)),
            *self._among_new(left.until_deleted(begun), right.all),
            *self._among_new(left.deleting, right.deleted(begun)),
        ]
        for buffer, side in ((self._old_left, left), (self._old_right, right)):
            buffer.keep(side.kept, now)
            buffer.expire(now)
        self._keys.forget(self._named_codes)
        return assemble(found, self._nothing, self._dates_from_left)

    def _named_codes(self) -> Iterator[Ints]:
        """The codes of all stored tuples."""
        for buffer in (self._old_left, self._old_right):
            yield from (codes_of(run.keys) for run in buffer.runs)

    def _with_old_right(self, left: Keyed) -> Iterator[Matches]:
        for run, first, count in self._old_right.probe(left.codes):
            for i, j in pairs(first, count, self._tuning.pairs_at_once):
                yield self._matches(left.tuples, i, run, j, left.tuples.start[i])

    def _with_old_left(self, right: Keyed) -> Iterator[Matches]:
        for run, first, count in self._old_left.probe(right.codes):
            for j, i in pairs(first, count, self._tuning.pairs_at_once):
                yield self._matches(run, i, right.tuples, j, right.tuples.start[j])

    def _among_new(self, left: Keyed, right: Keyed) -> Iterator[Matches]:
        if not len(left) or not len(right):
            return
        left, right = self._with_keys_of(right, left), self._with_keys_of(left, right)
        left_tuples, right_tuples = left.tuples, right.tuples
        index = TimeIndex(right.codes, right_tuples.start, right_tuples.end)
        right_tuples = right_tuples.take(index.order)
        slices = index.find(left.codes, left_tuples.start, left_tuples.end)
        for i, j in pairs(*slices, self._tuning.pairs_at_once):
            start = np.maximum(left_tuples.start[i], right_tuples.start[j])
            yield self._matches(left_tuples, i, right_tuples, j, start)

    def _matches(self, left: Batch | TupleRun, i: Ints, right: Batch | TupleRun, j: Ints, start: Ints) -> Matches:
        """The pairs of rows i and j that are alive together from `start` on, and for which the condition is true."""
        end = np.minimum(left.end[i], right.end[j])
        matches = Matches(left, i, right, j, start, end)
        alive = start < end
        return (matches if alive.all() else matches.take(alive)).where(self._rest)

    def _with_keys_of(self, others: Keyed, tuples: Keyed) -> Keyed:
        """Drop tuples whose join keys the others do not have; only if the others are so few that it pays."""
        if self._tuning.filter_when_times_fewer * len(others) > len(tuples):
            return tuples
        return tuples.take(slices_to_rows(*tuples.slices(np.unique(others.codes))))


class _NewTuples:
    """The new tuples of one side. The constructor deletes from the buffer the tuples that negative ones delete.

    Let `old` be the stored tuples before the batch, `stored` those left in the buffer. Then old = stored + deleted,
    new = kept + deleting, and old + new = stored + until_deleted + kept.
    """

    def __init__(self, codes: Ints, batch: Batch, buffer: Buffer, direct: bool) -> None:
        known = codes != NO_PARTNER
        keyed = Keyed.of_undeletable if direct else Keyed.of
        new = keyed(codes, batch) if known.all() else keyed(codes[known], batch.take(known))
        self.all = new.closed()
        matched = buffer.delete(self.all)
        self.deleting = self.all.take(matched)
        self.kept = self.all.take(~matched) if len(self.deleting) else self.all

    def until_deleted(self, begun: Instant) -> Keyed:
        """Stored tuples that this batch deletes, cut at their deletion; all of them started by `begun`."""
        tuples = self.deleting.tuples.negated()
        start = np.full(len(tuples), begun)
        return replace(self.deleting, tuples=replace(tuples, start=start, end=tuples.start)).take(start < tuples.start)

    def deleted(self, begun: Instant) -> Keyed:
        """Stored tuples that this batch deletes, with their original ends; all of them started by `begun`."""
        tuples = self.deleting.tuples.negated()
        return replace(self.deleting, tuples=replace(tuples, start=np.full(len(tuples), begun)))
