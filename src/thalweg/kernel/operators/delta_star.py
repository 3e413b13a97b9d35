"""delta*: duplicate elimination over inputs whose ends are known and that have no negative tuples."""

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
    """delta(S)(t) = { v once : v is in S(t) }, as consecutive intervals whose ends are known.

    Update pattern: WKS or WK in, WK out; no negative tuples. The output has no dates.
    State: for each value in the answer at most two tuples, the one in the answer and the one that ends last.
    Paper: GolabOzsu2005 §5.3.1 (U5).

        input     a: +[1, 5)     a: +[3, 9)     a: +[4, 7)
        output    a: +[1, 5)                               a: +[5, 9)
    """

    KEPT = ("_rows", "_shown_until", "_last_end", "_ends", "_now")

    def __init__(self, schema: Schema) -> None:
        self._rows = KeyTable(schema.types)
        self._key = columns_key(schema, range(len(schema)))
        self._shown_until = ByCode(np.int64, BEGINNING)  # by value: the end of the last emitted interval
        self._last_end = ByCode(np.int64, BEGINNING)  # by value: the last end of its tuples
        self._ends = Timeline()  # of the emitted intervals
        self._now = BEGINNING

    @property
    def keys(self) -> tuple[Key, ...]:
        """All columns: duplicates are equal."""
        return (self._key,)

    @property
    def stored(self) -> int:
        """One tuple for each value in the answer, and one more if another of its tuples ends later."""
        until = self._shown_until.values
        return int((until > self._now).sum() + ((until > self._now) & (self._last_end.values > until)).sum())

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The intervals that start: none for a duplicate of a value that stays in the answer."""
        (batch,) = inputs
        code, first, last = _without_repeats(self._rows.encode(batch.columns, len(batch)), batch.start, batch.end)
        self._shown_until.fit(self._rows.size)
        self._last_end.fit(self._rows.size)
        self._now = now
        ended, *replaced = self._replace(now)
        hidden = np.flatnonzero(self._shown_until.values[code] <= now)
        appeared = self._appear(code[hidden], first[hidden], last[hidden], now)
        np.maximum.at(self._last_end.values, code, last)
        codes, start, end = (np.concatenate(lanes) for lanes in zip(replaced, appeared, strict=True))
        rows = self._rows.decode(codes)
        self._release(np.concatenate([ended, code[hidden]]), now)
        return Batch(rows, start, end, np.ones(len(codes), dtype=np.int8))

    def _replace(self, now: Instant) -> tuple[Ints, Ints, Ints, Ints]:
        """The values whose interval has ended; codes, starts and ends of intervals that continue some of them."""
        due = self._ends.due(now)
        ended = due[1] if due is not None else np.empty(0, dtype=np.int64)
        code = ended[self._last_end.values[ended] > self._shown_until.values[ended]]
        start, end = self._shown_until.values[code], self._last_end.values[code]
        self._emit(code, end, now)
        return ended, code, start, end

    def _appear(self, code: Ints, start: Ints, end: Ints, now: Instant) -> tuple[Ints, Ints, Ints]:
        """Codes, starts and ends of new intervals of values that are not in the answer throughout the batch."""
        order = order_by(code, start)
        chains = _Chains(code[order], start[order], end[order])
        chosen = chains.emitted(self._shown_until.values, now)
        code, end = chains.code[chosen], chains.last[chosen]
        starts = run_starts(code)
        before = np.empty_like(end)
        before[1:] = end[:-1]
        before[starts] = self._shown_until.values[code[starts]]
        final = np.flatnonzero(run_ends(starts))
        self._emit(code[final], end[final], now)
        return code, np.maximum(before, chains.start[chosen]), end

    def _release(self, code: Ints, now: Instant) -> None:
        """Release the codes of values that have left the answer."""
        ended = code[np.maximum(self._shown_until.values[code], self._last_end.values[code]) <= now]
        self._rows.release(ended)

    def _emit(self, code: Ints, end: Ints, now: Instant) -> None:
        """Note the ends of the last emitted intervals."""
        self._shown_until.values[code] = end
        later = np.flatnonzero((end > now) & (end < FOREVER))
        self._ends.add(end[later], code[later])


def _without_repeats(code: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Drop tuples that equal the previous one: most of them, if a window slides by many tuples at a time."""
    repeats = (code[1:] == code[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    if not repeats.any():
        return code, start, end
    kept = np.concatenate([[0], np.flatnonzero(~repeats) + 1])
    return code[kept], start[kept], end[kept]


class _Chains:
    """Tuples by (value, start), each as a possible interval of the output that lasts until the last end so far.

    The interval after one that ends is that of the last tuple that has started by then, if it lasts longer; otherwise
    that of the next instant at which tuples start. So the intervals of a value form a chain.
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

    def emitted(self, shown_until: Ints, now: Instant) -> Ints:
        """The tuples whose intervals are emitted, in order, given by value the end of the last emitted interval."""
        count = len(self.code)
        values = np.arange(len(self._first))
        chosen = np.zeros(count + 1, dtype=np.bool_)
        chosen[self._next(values, shown_until[self.code[self._first]])] = True
        ending = np.flatnonzero(self.last <= now)
        jump = np.full(count + 1, count)
        jump[ending] = self._next(self._value[ending], self.last[ending])
        while True:  # each round jumps twice as far along the chains as the previous one
            reached = jump[chosen]
            if (reached == count).all():
                return np.flatnonzero(chosen[:count])
            chosen[reached] = True
            jump = jump[jump]

    def _next(self, value: Ints, until: Ints) -> Ints:
        """The tuple of the interval after one that lasts until `until`; the number of tuples if there is none."""
        low, high = self._first[value], self._stop[value]
        after = _first_after(self.start, low, high, until)
        longer = (after > low) & (self.last[after - 1] > until)
        next_ = np.append(self._last_of_instant, len(self.code))[np.where(after < high, after, len(self.code))]
        return np.where(longer, after - 1, next_)


def _first_after(lane: Ints, low: Ints, high: Ints, wanted: Ints) -> Ints:
    """The first position in each sorted slice [low, high) whose value is greater than `wanted`, or `high`."""
    low, high = low.copy(), high.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = np.minimum((low + high) >> 1, len(lane) - 1)
        up = (low < high) & (lane[middle] <= wanted)
        low = np.where(up, middle + 1, low)
        high = np.where(up, high, middle)
    return low
