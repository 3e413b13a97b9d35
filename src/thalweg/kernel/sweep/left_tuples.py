"""The left side of a negation: its tuples as moves in and out, their order, and those that are alive by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, Lane, identity, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.queues import Queues
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.sweep.events import Events
from thalweg.kernel.sweep.ordering import order_by, precedes, sort_lane


class Moves(NamedTuple):
    """Tuples that come (`delta` 1) or go (-1): when, of which value, and as lanes `exp`, `ts` if dated, columns."""

    time: Ints
    delta: Ints
    code: Ints
    lanes: tuple[Lane, ...]

    def take(self, rows: Lane | slice) -> Moves:
        """Some of them."""
        return Moves(self.time[rows], self.delta[rows], self.code[rows], tuple(lane[rows] for lane in self.lanes))


class LeftTuples(Stateful, kind="negation-left/1"):
    """The alive left tuples of each value, numbered 1, 2 ... in order of (exp, ts, row).

    `top` is D = (number of the last one) - (right tuples of the value): those up to number D are in the answer.
    `rest` are the columns that may differ within a value. With `direct` a tuple's end is its exp and takes no move;
    otherwise every end is a move (NT).
    """

    KEPT = ("queues", "top", "_ends")

    def __init__(self, schema: Schema, rest: Sequence[int], pool: StringPool, ordered: bool, direct: bool) -> None:
        self.dates = 2 if ordered else 1
        self.direct = direct
        self._rest = [(i, schema[i].type) for i in rest]
        self._pool = pool
        self.queues = Queues([np.int64] * self.dates + [lane_dtype(f.type) for f in schema])
        self.top = ByCode(np.int64, 0)
        self._ends = Events()

    def fit(self, codes: int) -> None:
        """Make room for all codes below `codes`."""
        self.queues.reach(codes)
        self.top.fit(codes)

    def moves(self, batch: Batch, code: Ints, now: Instant) -> Moves:
        """What comes and goes up to `now`; later ends wait."""
        dates = (batch.end,) if batch.dates is None else (batch.dates.exp, batch.dates.ts)
        lanes = (code, *dates, *batch.columns)
        told = self._ends.of(batch.start, batch.end, batch.sign, lanes, now, self.until(dates[0]))
        time, delta, codes, *rest = told
        moves = Moves(time, delta, codes, tuple(rest))
        real = time < self.until(moves.lanes[0])  # what goes when time ends it anyway need not be told
        return moves if bool(real.all()) else moves.take(real)

    def until(self, exp: Ints) -> Ints:
        """Up to when a tuple's presence can be told on arrival."""
        return exp if self.direct else np.full(len(exp), FOREVER)

    def dead_by(self, clock: Instant) -> Instant:
        """The expiry up to which tuples are gone without a move."""
        return clock if self.direct else BEGINNING

    def sort(self, moves: Moves) -> tuple[Moves, Flags]:
        """Moves by value, time and order, and where one is out of order behind an earlier one of its value."""
        moves = moves.take(order_by(moves.code, moves.time))
        wrong = self._out_of_order(moves)
        if bool((wrong[1:] & (moves.time[1:] == moves.time[:-1])).any()):
            lanes = (*moves.lanes[: self.dates], *self.row_order(moves.lanes))
            moves = moves.take(order_by(moves.code, moves.time, *lanes))
            wrong = self._out_of_order(moves)
        return moves, wrong

    def _out_of_order(self, moves: Moves) -> Flags:
        wrong = np.zeros(len(moves.code), dtype=np.bool_)
        if len(wrong) > 1:
            later, earlier = ([lane[rows] for lane in moves.lanes] for rows in (slice(1, None), slice(None, -1)))
            wrong[1:] = (moves.code[1:] == moves.code[:-1]) & self.precedes(later, earlier)
        return wrong

    def row_order(self, lanes: Sequence[Lane]) -> list[Ints]:
        """Integers in the order of the rows of a value."""
        return [sort_lane(lanes[self.dates + i], type_, self._pool) for i, type_ in self._rest]

    def identities(self, lanes: Sequence[Lane]) -> list[Ints]:
        """What makes two tuples of a value the same: dates and row."""
        return [*lanes[: self.dates], *(identity(lanes[self.dates + i]) for i, _ in self._rest)]

    def precedes(self, left: Sequence[Lane], right: Sequence[Lane]) -> Flags:
        """Where one tuple comes strictly before another of its value; rows are compared only where dates are equal."""
        before = precedes(left[: self.dates], right[: self.dates])
        if self._rest:
            tied = np.flatnonzero(np.logical_and.reduce([left[i] == right[i] for i in range(self.dates)]))
            if len(tied):
                a, b = (self.row_order([lane[tied] for lane in lanes]) for lanes in (left, right))
                before[tied] = precedes(a, b)
        return before

    def stored(self, clock: Instant) -> int:
        """How many tuples and waiting ends are kept."""
        return self.queues.alive(self.dead_by(clock)) + len(self._ends)
