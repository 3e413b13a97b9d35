"""Negation: bag difference on some columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.errors import PlanError
from thalweg.core.lanes import Flags, Ints
from thalweg.core.runs import join_runs
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Key, Operator, columns_key
from thalweg.kernel.state.table import ByCode, KeyTable
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.events import TupleEvents
from thalweg.kernel.sweep.negation_any_order import sweep_any_order
from thalweg.kernel.sweep.negation_in_order import LeftIntervals, RightEvents, sweep_in_order
from thalweg.kernel.sweep.negation_left import LeftEvents, NegationLeft
from thalweg.kernel.sweep.segments import rank_within, run_starts

_CODE = 2  # the lane of pending events that has the code of their value


class Negation(Operator, kind="negation/1"):
    """For each value of the `on` columns the first max(0, n - m) of its n left tuples, by (exp, ts, row).

    m is the number of right tuples with the value; NULLs are one value. With `ordered` left batches carry dates.
    Otherwise `on` must cover all left columns: then copies of a row are interchangeable and need no dates. With
    `direct` results carry their ends; otherwise negative tuples end all results (NT).

    Update pattern: STR; a right arrival deletes a result before its end, which `premature` counts.
    State: for each value a queue of its alive left tuples and the number of right tuples; the pending ends of right
    tuples. Cost: a value whose left tuples arrive and leave in order costs its events (sweep/negation_in_order.py);
    any other value costs also its alive left tuples, once in that batch (sweep/negation_any_order.py).
    Paper: Equation 1 of GolabOzsu2005.
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
            raise PlanError(
                f"a negation on some of the columns {left} needs dates, to choose among rows with equal values"
            )
        self._schema = left
        self._on_left, self._on_right = ([pair[side] for pair in on] for side in (0, 1))
        self._sides = (columns_key(left, self._on_left), columns_key(right, self._on_right))
        self._coder = KeyTable.of_width(len(on))
        self._left = NegationLeft(left, rest, pool, ordered, direct or not ordered)
        self._right_ends = TupleEvents()
        self._debt_ends = Timeline()  # of debts that count as right tuples (see `_shifts` in negation_any_order.py)
        self._unordered = ByCode(np.bool_, False)  # by value: whether its tuples are out of order in this batch
        self._clock: Instant = BEGINNING
        self._premature = 0

    @property
    def keys(self) -> tuple[Key, ...]:
        """The `on` columns of both sides."""
        return self._sides

    @property
    def stored(self) -> int:
        """Alive left tuples, and right tuples with pending ends."""
        return self._left.stored(self._clock) + len(self._right_ends)

    @property
    def premature(self) -> int:
        """The number of results that right arrivals have deleted before their ends."""
        return self._premature

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples that enter and leave the answer up to `now`."""
        left, right = inputs
        left_code = self._coder.encode([left.columns[i] for i in self._on_left], len(left))
        left_events = self._left.events(left, left_code, now)
        right_code = self._coder.encode([right.columns[j] for j in self._on_right], len(right))
        right_events = RightEvents(*self._right_ends.of(right.start, right.end, right.sign, (right_code,), now))
        debts = self._debt_ends.due(now)
        if debts is not None:
            right_events = RightEvents(*join_runs([right_events, debts]))
        self._left.fit(self._coder.size)
        self._unordered.fit(self._coder.size)
        any_event = len(left_events.time) or len(right_events.time)
        found = self._sweep(left_events, right_events, now) if any_event else []
        self._clock = now
        if self._coder.forget(self._named_codes):
            self._left.clear(self._coder.size)
            self._unordered.cut(self._coder.size)
        return self._result(found)

    def _named_codes(self) -> Iterator[Ints]:
        """The codes of values that have left or right tuples, or pending ends of some."""
        yield self._left.inhabited(self._clock)
        for pending in (self._left.pending, self._right_ends.pending, self._debt_ends):
            yield from pending.lane(_CODE)

    def _sweep(self, left: LeftEvents, right: RightEvents, now: Instant) -> list[LeftIntervals]:
        arriving, wrong = self._left.sort(left.take(left.delta > 0))
        leaving, _ = self._left.sort(left.take(left.delta < 0))
        self._unordered.values[arriving.code[wrong | self._before_the_last(arriving)]] = True
        appended = arriving.take(~self._unordered.values[arriving.code])
        ranks = rank_within(run_starts(appended.code))
        self._left.queues.append(appended.code, ranks, appended.lanes, self._left.expired_by(self._clock))
        self._unordered.values[leaving.code[~self._leave_in_order(leaving)]] = True
        unordered = np.unique(left.code[self._unordered.values[left.code]])
        if not len(unordered):
            return [sweep_in_order(self._left, arriving, leaving, right)]
        return self._sweep_apart(unordered, left, right, appended, leaving, now)

    def _sweep_apart(
        self,
        unordered: Ints,
        left: LeftEvents,
        right: RightEvents,
        appended: LeftEvents,
        leaving: LeftEvents,
        now: Instant,
    ) -> list[LeftIntervals]:
        """Sweep values with tuples out of order by `negation_any_order`, all others by `negation_in_order`."""
        flags = self._unordered.values
        in_order = sweep_in_order(
            self._left,
            appended.take(~flags[appended.code]),
            leaving.take(~flags[leaving.code]),
            right.take(~flags[right.code]),
        )
        self._left.queues.retract(appended.code[flags[appended.code]])
        found, later = sweep_any_order(
            self._left, unordered, left.take(flags[left.code]), right.take(flags[right.code]), self._clock, now
        )
        self._debt_ends.add(*later)
        flags[unordered] = False
        return [in_order, found]

    def _before_the_last(self, arriving: LeftEvents) -> Flags:
        """Where a value's first new tuple belongs before its last alive tuple."""
        queues = self._left.queues
        first = run_starts(arriving.code) & (queues.last[arriving.code] > queues.first[arriving.code])
        rows = np.flatnonzero(first)
        codes = arriving.code[rows]
        last = queues.read(queues.slots(codes, queues.last[codes]))
        first[rows] = self._left.precedes([lane[rows] for lane in arriving.lanes], last)
        return first

    def _leave_in_order(self, leaving: LeftEvents) -> Flags:
        """Where a tuple that leaves is the first of its value, after the departures before it."""
        queues = self._left.queues
        if not len(leaving.code):
            return np.empty(0, dtype=np.bool_)
        starts = run_starts(leaving.code)
        queues.drop_ended(leaving.code[starts], self._left.expired_by(self._clock))
        number = queues.first[leaving.code] + 1 + rank_within(starts)
        in_order = number <= queues.last[leaving.code]
        rows = np.flatnonzero(in_order)
        front = self._left.identities(queues.read(queues.slots(leaving.code[rows], number[rows])))
        own = self._left.identities([lane[rows] for lane in leaving.lanes])
        in_order[rows] = np.logical_and.reduce([a == b for a, b in zip(front, own, strict=True)])
        return in_order

    def _result(self, found: Sequence[LeftIntervals]) -> Batch:
        dated = self._left.dates == 2
        batches = [Batch.empty(self._schema, dated)]
        for lanes, start, end, sign in found:
            self._premature += int(np.where(sign > 0, end < lanes[0], start < lanes[0]).sum())
            dates = Dates(lanes[1], lanes[0]) if dated else None
            batches.append(Batch(tuple(lanes[self._left.dates :]), start, end, sign.astype(np.int8), dates))
        return Batch.concat(batches)
