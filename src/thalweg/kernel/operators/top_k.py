"""Top-k: the first rows by some order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.sweep.leaders import DATES, END, START, WEIGHT, Leaders, Rows, take
from thalweg.kernel.sweep.levels import Changes, net_intervals
from thalweg.kernel.sweep.order_statistics import nth_alive
from thalweg.kernel.sweep.ordering import order_by, sort_lane
from thalweg.kernel.sweep.segments import run_starts
from thalweg.kernel.sweep.skyband import OLD

Order = tuple[int, bool, bool]  # a column, whether descending, whether NULLs come first


class TopK(Operator, kind="top-k/1"):
    """The first `limit` alive tuples by the keys, then by the whole row (NULLs last), then by (exp, ts).

    Strict non-monotonic: a tuple that comes may push another out, and one that goes lets another in. With
    `known_ends` the input has no negative tuples and tells every end on arrival; then results carry their ends too,
    and the state holds the k-skyband: tuples that fewer than k better ones outlive (the rest can never show).
    Otherwise the state holds all alive tuples, and negative tuples tell every end.

    State: leaders.py. A batch costs its own size and that of the best few tuples.
    """

    KEPT = ("_leaders",)

    def __init__(
        self,
        schema: Schema,
        keys: Sequence[Order],
        limit: int,
        pool: StringPool,
        *,
        dated: bool = False,
        known_ends: bool = False,
    ) -> None:
        self._schema = schema
        self._keys = tuple(keys)
        self._limit = limit
        self._pool = pool
        self._first_column = DATES + 2 * dated
        self._known_ends = known_ends
        dtypes = [np.int64] * self._first_column + [lane_dtype(f.type) for f in schema]
        self._leaders = Leaders(dtypes, self._order, limit, prune=known_ends)

    @property
    def keys(self) -> tuple[Key, ...]:
        """It looks at all tuples."""
        return ((),)

    @property
    def stored(self) -> int:
        """How many tuples may still show."""
        return self._leaders.stored

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples that enter and leave the first ones up to `now`."""
        (batch,) = inputs
        if self._limit == 0:
            return Batch.empty(self._schema, self._first_column > DATES)
        dates = () if batch.dates is None else (batch.dates.exp, batch.dates.ts)
        new = (batch.start, batch.end, batch.sign.astype(np.int64), *dates, *batch.columns)
        result = self._changes(self._leaders.contenders(new, now), now)
        self._leaders.settle(now)
        return result

    def _order(self, rows: Rows) -> list[Ints]:
        """Integers in the order of tuples; equal ones are copies."""
        columns = rows[self._first_column :]
        keys = [sort_lane(columns[i], self._schema[i].type, self._pool, *how) for i, *how in self._keys]
        row = [sort_lane(column, f.type, self._pool) for column, f in zip(columns, self._schema, strict=True)]
        ends = [rows[END]] if self._known_ends else []
        return [*keys, *row, *rows[DATES : self._first_column], *ends]

    def _changes(self, rows: Rows, now: Instant) -> Batch:
        """What shows and ceases to show, given all tuples that may."""
        lanes = self._order(rows)
        order = order_by(*lanes)
        rows = take(rows, order)
        starts = run_starts(*(lane[order] for lane in lanes))
        kind, kinds = np.cumsum(starts) - 1, take(rows, starts)
        old = rows[START] == OLD
        ending = rows[END] <= now
        time = np.concatenate([rows[START][~old], rows[END][ending]])
        place = np.concatenate([kind[~old], kind[ending]])
        delta = np.concatenate([rows[WEIGHT][~old], -rows[WEIGHT][ending]])
        order = order_by(time, -delta)  # what comes at an instant comes before what goes: never fewer than none
        alive = np.zeros(len(kinds[START]), dtype=np.int64)
        np.add.at(alive, kind[old], rows[WEIGHT][old])
        changes = _unit_changes(alive, Changes(place[order], time[order], delta[order]), self._limit)
        until = kinds[END] if self._known_ends else np.full(len(alive), FOREVER)
        shown, start, end, sign = net_intervals(changes, until)
        result = take(kinds, shown)
        dates = Dates(result[DATES + 1], result[DATES]) if self._first_column > DATES else None
        return Batch(result[self._first_column :], start, end, sign.astype(np.int8), dates)


def _unit_changes(alive: Ints, events: Changes, limit: int) -> Changes:
    """How the first `limit` tuples change with each event; places are in order, and `alive` counts the tuples there.

    A tuple that comes enters if there is room, or if it beats the last one shown, which then leaves. One that goes
    leaves if it was shown, and lets the one behind the last shown in.
    """
    if not len(events.time):
        return events
    place, time, change = (np.append(0, lane) for lane in events)  # a silent event first: the state before all others
    count = int(alive.sum()) + np.cumsum(change)
    last = nth_alive(alive, place, change, np.minimum(count, limit))
    before, last_before = np.append(0, count[:-1]), np.append(0, last[:-1])
    comes, goes = change > 0, change < 0
    full = comes & (before >= limit) & (place < last_before)
    enters = full | (comes & (before < limit))
    crowded = goes & (before > limit) & (place <= last_before)
    leaves = crowded | (goes & (before <= limit))
    parts = [(place, enters, 1), (last_before, full, -1), (place, leaves, -1), (last, crowded, 1)]
    return Changes(
        np.concatenate([places[where] for places, where, _ in parts]),
        np.concatenate([time[where] for _, where, _ in parts]),
        np.repeat([sign for *_, sign in parts], [int(where.sum()) for _, where, _ in parts]),
    )
