"""Negation: bag difference on attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.errors import PlanError
from thalweg.core.lanes import Flags, Ints
from thalweg.core.runs import join_runs
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Key, Operator, columns_key
from thalweg.kernel.state.coder import KeyCoder
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.events import Events
from thalweg.kernel.sweep.left_tuples import LeftTuples, Moves
from thalweg.kernel.sweep.negation_any_order import sweep_any_order
from thalweg.kernel.sweep.negation_in_order import Found, Turns, sweep_in_order
from thalweg.kernel.sweep.segments import rank_within, run_starts


class Negation(Operator, kind="negation/1"):
    """For each value of the `on` columns the first max(0, n - m) of its n left tuples, by (exp, ts, row).

    Equation 1 of GolabOzsu2005; m counts the right tuples with the value, and NULLs are one value. Strict
    non-monotonic: a right arrival deletes early, which `premature` counts.

    With `ordered` left batches carry dates. Without, `on` must cover all left columns: then copies of a row are alike
    and need no dates. With `direct` results carry their end; without, negative tuples tell every end (NT).

    State: the alive left tuples of each value as a queue, the number of right tuples, and the right's ends. A value
    whose left tuples come and go in order costs only its events (negation_in_order.py); one whose do not, in a batch,
    costs its alive left tuples once in that batch (negation_any_order.py).
    """

    KEPT = ("_coder", "_left", "_right_ends", "_debt_ends", "_clock", "_premature")

    def __init__(
        self,
        left: Schema,
        right: Schema,
        on: Sequence[tuple[int, int]],
        pool: StringPool,
        *,
        ordered: bool = True,
        direct: bool = True,
    ) -> None:
        rest = [i for i in range(len(left)) if i not in {i for i, _ in on}]
        if rest and not ordered:
            raise PlanError(f"a negation that compares only some of {left} must choose rows by their dates")
        self._schema = left
        self._on_left, self._on_right = ([pair[side] for pair in on] for side in (0, 1))
        self._sides = (columns_key(left, self._on_left), columns_key(right, self._on_right))
        self._coder = KeyCoder(len(on))
        self._left = LeftTuples(left, rest, pool, ordered, direct or not ordered)
        self._right_ends = Events()
        self._debt_ends = Timeline()  # ends of left tuples' debts that count as right ones (negation_any_order.py)
        self._odd = ByCode(np.bool_, False)
        self._clock: Instant = BEGINNING
        self._premature = 0

    @property
    def keys(self) -> tuple[Key, ...]:
        """Tuples count against those with the same value."""
        return self._sides

    @property
    def stored(self) -> int:
        """Alive left tuples, and right ones whose end is known."""
        return self._left.stored(self._clock) + len(self._right_ends)

    @property
    def premature(self) -> int:
        """How many results a right arrival has deleted."""
        return self._premature

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples that enter and leave the answer up to `now`."""
        left, right = inputs
        moves = self._left.moves(left, self._coder.encode([left.columns[i] for i in self._on_left], len(left)), now)
        right_code = self._coder.encode([right.columns[j] for j in self._on_right], len(right))
        turns = Turns(*self._right_ends.of(right.start, right.end, right.sign, (right_code,), now))
        missing = self._debt_ends.due(now)
        if missing is not None:
            turns = Turns(*join_runs([turns, missing]))
        self._left.fit(self._coder.size)
        self._odd.fit(self._coder.size)
        found = self._sweep(moves, turns, now) if len(moves.time) or len(turns.time) else []
        self._clock = now
        return self._result(found)

    def _sweep(self, moves: Moves, turns: Turns, now: Instant) -> list[Found]:
        coming, wrong = self._left.sort(moves.take(moves.delta > 0))
        going, _ = self._left.sort(moves.take(moves.delta < 0))
        self._odd.values[coming.code[wrong | self._before_the_last(coming)]] = True
        appended = coming.take(~self._odd.values[coming.code])
        ranks = rank_within(run_starts(appended.code))
        self._left.queues.append(appended.code, ranks, appended.lanes, self._left.dead_by(self._clock))
        self._odd.values[going.code[~self._leave_in_order(going)]] = True
        odd = np.unique(moves.code[self._odd.values[moves.code]])
        if not len(odd):
            return [sweep_in_order(self._left, coming, going, turns)]
        return self._sweep_apart(odd, moves, turns, appended, going, now)

    def _sweep_apart(
        self, odd: Ints, moves: Moves, turns: Turns, appended: Moves, going: Moves, now: Instant
    ) -> list[Found]:
        """The values of `odd` one way, all others the other way."""
        flags = self._odd.values
        in_order = sweep_in_order(
            self._left,
            appended.take(~flags[appended.code]),
            going.take(~flags[going.code]),
            turns.take(~flags[turns.code]),
        )
        self._left.queues.retract(appended.code[flags[appended.code]])
        found, later = sweep_any_order(
            self._left, odd, moves.take(flags[moves.code]), turns.take(flags[turns.code]), self._clock, now
        )
        self._debt_ends.add(*later)
        flags[odd] = False
        return [in_order, found]

    def _before_the_last(self, coming: Moves) -> Flags:
        """Where a value's first new tuple belongs before its last alive one."""
        queues = self._left.queues
        first = run_starts(coming.code) & (queues.last[coming.code] > queues.first[coming.code])
        rows = np.flatnonzero(first)
        codes = coming.code[rows]
        last = queues.read(queues.slots(codes, queues.last[codes]))
        first[rows] = self._left.precedes([lane[rows] for lane in coming.lanes], last)
        return first

    def _leave_in_order(self, going: Moves) -> Flags:
        """Where a tuple that goes is the first of its value, once those before it have gone."""
        queues = self._left.queues
        if not len(going.code):
            return np.empty(0, dtype=np.bool_)
        starts = run_starts(going.code)
        queues.drop_dead(going.code[starts], self._left.dead_by(self._clock))
        number = queues.first[going.code] + 1 + rank_within(starts)
        in_order = number <= queues.last[going.code]
        rows = np.flatnonzero(in_order)
        front = self._left.identities(queues.read(queues.slots(going.code[rows], number[rows])))
        own = self._left.identities([lane[rows] for lane in going.lanes])
        in_order[rows] = np.logical_and.reduce([a == b for a, b in zip(front, own, strict=True)])
        return in_order

    def _result(self, found: Sequence[Found]) -> Batch:
        dated = self._left.dates == 2
        batches = [Batch.empty(self._schema, dated)]
        for lanes, start, end, sign in found:
            self._premature += int(np.where(sign > 0, end < lanes[0], start < lanes[0]).sum())
            dates = Dates(lanes[1], lanes[0]) if dated else None
            batches.append(Batch(tuple(lanes[self._left.dates :]), start, end, sign.astype(np.int8), dates))
        return Batch.concat(batches)
