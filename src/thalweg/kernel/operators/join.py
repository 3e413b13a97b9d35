"""Inner join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from thalweg.algebra.expressions import Expression
from thalweg.core.batch import Batch
from thalweg.core.errors import TooManyResultsError
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import LONGEST, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.indexes import TimeIndex
from thalweg.kernel.state.keyed import Keyed, codes_of
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.join_keys import NO_PARTNER, JoinKeys, rest_of
from thalweg.kernel.sweep.matches import Matches, SignedMatches, assemble, signed
from thalweg.kernel.sweep.meeting import meeting
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
        most_results: int = LONGEST,
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
        self._condition = condition
        self._most_results = most_results
        self._new: tuple[Keyed, Keyed] | None = None  # of both sides, in this batch

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

    @property
    def makes_pieces(self) -> bool:
        """A hot key can give more pairs than fit into memory."""
        return True

    @property
    def most_results(self) -> int:
        """How many pairs of a batch may exist at a time."""
        return self._most_results

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pairs with a new tuple."""
        return assemble(list(self._limited(self._found(inputs, now))), self._nothing, self._dates_from_left)

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same, in pieces of about `results_at_once` pairs."""
        held: list[SignedMatches] = []
        count, given = 0, False
        for found in signed(self._found([Batch.concat(list(i)) for i in inputs], now), self._tuning.results_at_once):
            held.append(found)
            count += len(found[0])
            if count >= self._tuning.results_at_once:
                yield assemble(held, self._nothing, self._dates_from_left)
                held, count, given = [], 0, True
        if held or not given:
            yield assemble(held, self._nothing, self._dates_from_left)

    def too_many_results(self) -> TooManyResultsError:
        """The error names the join, and the key by which most tuples meet."""
        most = f"more than {self._most_results:,} results in one batch, which must exist at the same time here"
        hint = (
            "smaller batches, a narrower window, or a further condition of the join make fewer; COUNT, SUM and AVG "
            f"over the join need no limit; tw.Settings(most_results={2 * self._most_results}) allows more"
        )
        message = f"the join ON {self._condition} has {most}"
        if self._new is None or not any(map(len, self._new)):
            return TooManyResultsError(message, hint=hint)
        met = meeting([side.codes for side in self._new], (self._old_left, self._old_right))
        side = 0 if (self._new[0].codes == met.hottest).any() else 1
        chosen = self._new[side]
        key = self._keys.shown(side, chosen.tuples.take(np.flatnonzero(chosen.codes == met.hottest)[:1]))
        return TooManyResultsError(
            f"{message}: {met.pairs:,} pairs of tuples meet, {met.hottest_pairs:,} of them by the hottest key"
            f"{f' ({key})' if key else ''}, which {met.hottest_left:,} tuples of the left side and "
            f"{met.hottest_right:,} of the right side have",
            hint=hint,
        )

    def _limited(self, found: Iterable[Matches]) -> Iterator[SignedMatches]:
        """All pairs with their signs; raise an error if they are too many."""
        count = 0
        for matches, signs in signed(found, self._tuning.results_at_once):
            count += len(signs)
            if count > self._most_results:
                raise self.too_many_results()
            yield matches, signs

    def _found(self, inputs: Sequence[Batch], now: Instant) -> Iterator[Matches]:
        """The pairs with a new tuple; when all have been taken, the new tuples are stored."""
        left = _NewTuples(self._keys.of_left(inputs[0]), inputs[0], self._old_left, self._direct[0])
        right = _NewTuples(self._keys.of_right(inputs[1]), inputs[1], self._old_right, self._direct[1])
        begun = min(int(side.all.tuples.start.min(initial=now)) for side in (left, right))
        self._new = (left.all, right.all)
        yield from self._with_old_right(left.all)
        yield from self._with_old_left(right.all)
        yield from self._among_new(left.kept, right.kept)
        # Old tuples that this batch deletes are no longer in the buffers, but have partners until their deletion.
        yield from self._among_new(left.kept, right.until_deleted(begun))
        yield from self._among_new(left.until_deleted(begun), right.all)
        yield from self._among_new(left.deleting, right.deleted(begun))
        self._new = None
        for buffer, side in ((self._old_left, left), (self._old_right, right)):
            buffer.keep(side.kept, now)
            buffer.expire(now)
        self._keys.forget(self._named_codes)

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
