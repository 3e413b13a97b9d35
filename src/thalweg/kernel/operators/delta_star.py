"""delta*: duplicate elimination where all ends are known and no tuple is negative. GolabOzsu2005 §5.3.1 (U5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.operator import Key, Operator, columns_key
from thalweg.kernel.state.table import ByCode, KeyTable
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.maxima import maxima_so_far
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_ends, run_starts


class DeltaStar(Operator, kind="delta-star/1"):
    """delta(S)(t) = { v once : v is in S(t) }, told in pieces whose ends are known.

    Update pattern: WKS or WK in, WK out; no negative tuples. Dates are not kept.
    State: per value shown at most two tuples, the one shown and the one that ends last; the input is not stored.

        input     a: +[1, 5)     a: +[3, 9)     a: +[4, 7)
        output    a: +[1, 5)                               a: +[5, 9)
    """

    KEPT = ("_rows", "_shown_until", "_last_end", "_ends", "_now")

    def __init__(self, schema: Schema) -> None:
        self._rows = KeyTable(schema.types)
        self._key = columns_key(schema, range(len(schema)))
        self._shown_until = ByCode(np.int64, BEGINNING)  # by value: the end of the piece told last
        self._last_end = ByCode(np.int64, BEGINNING)  # by value: the last end of all its tuples
        self._ends = Timeline()  # of the pieces that are shown
        self._now = BEGINNING

    @property
    def keys(self) -> tuple[Key, ...]:
        """Duplicates are equal."""
        return (self._key,)

    @property
    def stored(self) -> int:
        """One tuple for each value shown, and one more where another ends later."""
        until = self._shown_until.values
        return int((until > self._now).sum() + ((until > self._now) & (self._last_end.values > until)).sum())

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The pieces that begin: none for a duplicate of a value that is shown."""
        (batch,) = inputs
        code, first, last = _without_repeats(self._rows.encode(batch.columns, len(batch)), batch.start, batch.end)
        self._shown_until.fit(self._rows.size)
        self._last_end.fit(self._rows.size)
        self._now = now
        ended, *replaced = self._replace(now)
        hidden = np.flatnonzero(self._shown_until.values[code] <= now)
        appeared = self._appear(code[hidden], first[hidden], last[hidden], now)
        np.maximum.at(self._last_end.values, code, last)
        pieces, start, end = (np.concatenate(lanes) for lanes in zip(replaced, appeared, strict=True))
        rows = self._rows.decode(pieces)
        self._forget(np.concatenate([ended, code[hidden]]), now)
        return Batch(rows, start, end, np.ones(len(pieces), dtype=np.int8))

    def _replace(self, now: Instant) -> tuple[Ints, Ints, Ints, Ints]:
        """The values whose tuple shown has ended; and of those that live on the codes and pieces of the next tuples."""
        due = self._ends.due(now)
        ended = due[1] if due is not None else np.empty(0, dtype=np.int64)
        code = ended[self._last_end.values[ended] > self._shown_until.values[ended]]
        start, end = self._shown_until.values[code], self._last_end.values[code]
        self._show(code, end, now)
        return ended, code, start, end

    def _appear(self, code: Ints, start: Ints, end: Ints, now: Instant) -> tuple[Ints, Ints, Ints]:
        """Codes and pieces of values that are not shown all through the batch, given their tuples."""
        order = order_by(code, start)
        chains = _Chains(code[order], start[order], end[order])
        chosen = chains.pieces(self._shown_until.values, now)
        code, end = chains.code[chosen], chains.last[chosen]
        starts = run_starts(code)
        before = np.empty_like(end)
        before[1:] = end[:-1]
        before[starts] = self._shown_until.values[code[starts]]
        final = np.flatnonzero(run_ends(starts))
        self._show(code[final], end[final], now)
        return code, np.maximum(before, chains.start[chosen]), end

    def _forget(self, code: Ints, now: Instant) -> None:
        """Values that are there no more need no code."""
        gone = code[np.maximum(self._shown_until.values[code], self._last_end.values[code]) <= now]
        self._rows.release(gone)

    def _show(self, code: Ints, end: Ints, now: Instant) -> None:
        """Each value is shown until its end."""
        self._shown_until.values[code] = end
        waits = np.flatnonzero((end > now) & (end < FOREVER))
        self._ends.add(end[waits], code[waits])


def _without_repeats(code: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Tuples, but for those that are like the one before: most, where a window lets many come and go together."""
    repeats = (code[1:] == code[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    if not repeats.any():
        return code, start, end
    kept = np.concatenate([[0], np.flatnonzero(~repeats) + 1])
    return code[kept], start[kept], end[kept]


class _Chains:
    """Tuples by (value, start), each as a piece that may be told: it lasts until the last end met so far.

    When a piece ends, the next is that of the last tuple that has started by then, if this lasts longer; else that of
    the next instant at which tuples start. So pieces form chains, one per value.
    """

    def __init__(self, code: Ints, start: Ints, end: Ints) -> None:
        self.code, self.start = code, start
        values = run_starts(code)
        self.last = maxima_so_far(end, values)
        self._first = np.flatnonzero(values)
        self._stop = np.append(self._first, len(code))[1:]
        self._value = np.cumsum(values) - 1
        instants = np.flatnonzero(run_ends(run_starts(code, start)))
        self._last_of_instant = instants[np.cumsum(run_starts(code, start)) - 1]

    def pieces(self, shown_until: Ints, now: Instant) -> Ints:
        """The tuples whose pieces are told, in order, where each value has been shown until some time."""
        count = len(self.code)
        values = np.arange(len(self._first))
        told = np.zeros(count + 1, dtype=np.bool_)
        told[self._next(values, shown_until[self.code[self._first]])] = True
        ending = np.flatnonzero(self.last <= now)
        jump = np.full(count + 1, count)
        jump[ending] = self._next(self._value[ending], self.last[ending])
        while True:  # each round reaches twice as far as the one before
            reached = jump[told]
            if (reached == count).all():
                return np.flatnonzero(told[:count])
            told[reached] = True
            jump = jump[jump]

    def _next(self, value: Ints, until: Ints) -> Ints:
        """The piece that comes after one that lasts until some time; the number of tuples where there is none."""
        low, high = self._first[value], self._stop[value]
        after = _first_after(self.start, low, high, until)
        longer = (after > low) & (self.last[after - 1] > until)
        next_ = np.append(self._last_of_instant, len(self.code))[np.where(after < high, after, len(self.code))]
        return np.where(longer, after - 1, next_)


def _first_after(lane: Ints, low: Ints, high: Ints, wanted: Ints) -> Ints:
    """The first place in each sorted slice [low, high) whose value is greater than the wanted one, or `high`."""
    low, high = low.copy(), high.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = np.minimum((low + high) >> 1, len(lane) - 1)
        up = (low < high) & (lane[middle] <= wanted)
        low = np.where(up, middle + 1, low)
        high = np.where(up, high, middle)
    return low
