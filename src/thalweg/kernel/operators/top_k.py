"""Top-k: ORDER BY ... LIMIT k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.sweep.levels import BagChanges, net_intervals
from thalweg.kernel.sweep.order_statistics import nth_alive
from thalweg.kernel.sweep.ordering import order_by, sort_lane
from thalweg.kernel.sweep.segments import run_starts
from thalweg.kernel.sweep.skyband import OLD
from thalweg.kernel.sweep.top_k_state import DATES, END, START, WEIGHT, TopKRows, TopKState, take
from thalweg.kernel.tuning import DEFAULT, Tuning

SortColumn = tuple[int, bool, bool]  # a column, whether it sorts descending, whether NULLs come first


class TopK(Operator, kind="top-k/1"):
    """The first `limit` alive tuples by the sort keys, then by the whole row (NULLs last), then by (exp, ts).

    With `known_ends` the input has no negative tuples, and its ends are known on arrival; then results carry their ends
    too. Otherwise negative tuples end all results.

    Update pattern: STR; an arrival may push another tuple out of the answer, and a departure lets another one in.
    State: with `known_ends` the k-skyband, the tuples that fewer than k better ones outlive (others can never be in the
    answer); otherwise all alive tuples (sweep/top_k_state.py). Cost: a batch costs its own size and that of the best
    tuples.
    """

    KEPT = ("_leaders",)

    def __init__(
        self,
        schema: Schema,
        keys: Sequence[SortColumn],
        limit: int,
        pool: StringPool,
        *,
        dated: bool = False,
        known_ends: bool = False,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._schema = schema
        self._keys = tuple(keys)
        self._limit = limit
        self._pool = pool
        self._first_column = DATES + 2 * dated
        self._known_ends = known_ends
        dtypes = [np.int64] * self._first_column + [lane_dtype(f.type) for f in schema]
        self._leaders = TopKState(dtypes, self._order, limit, known_ends, tuning)

    @property
    def keys(self) -> tuple[Key, ...]:
        """One process must see all tuples."""
        return ((),)

    @property
    def stored(self) -> int:
        """The number of stored tuples, which may still be in the answer."""
        return self._leaders.stored

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples that enter and leave the answer up to `now`."""
        (batch,) = inputs
        if self._limit == 0:
            return Batch.empty(self._schema, self._first_column > DATES)
        dates = () if batch.dates is None else (batch.dates.exp, batch.dates.ts)
        new = (batch.start, batch.end, batch.sign.astype(np.int64), *dates, *batch.columns)
        result = self._changes(self._leaders.contenders(new, now), now)
        self._leaders.finish_batch(now)
        return result

    def _order(self, rows: TopKRows) -> list[Ints]:
        """Lanes of integers that sort the tuples; tuples with equal integers are copies."""
        columns = rows[self._first_column :]
        keys = [sort_lane(columns[i], self._schema[i].type, self._pool, *how) for i, *how in self._keys]
        row = [sort_lane(column, f.type, self._pool) for column, f in zip(columns, self._schema, strict=True)]
        ends = [rows[END]] if self._known_ends else []
        return [*keys, *row, *rows[DATES : self._first_column], *ends]

    def _changes(self, rows: TopKRows, now: Instant) -> Batch:
        """The changes of the answer, given all tuples that may be in it."""
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
        order = order_by(time, -delta)  # arrivals first, so that no count is negative
        alive = np.zeros(len(kinds[START]), dtype=np.int64)
        np.add.at(alive, kind[old], rows[WEIGHT][old])
        changes = _unit_changes(alive, BagChanges(place[order], time[order], delta[order]), self._limit)
        until = kinds[END] if self._known_ends else np.full(len(alive), FOREVER)
        shown, start, end, sign = net_intervals(changes, until)
        result = take(kinds, shown)
        dates = Dates(result[DATES + 1], result[DATES]) if self._first_column > DATES else None
        return Batch(result[self._first_column :], start, end, sign.astype(np.int8), dates)


def _unit_changes(alive: Ints, events: BagChanges, limit: int) -> BagChanges:
    """How each event changes the answer; `events.kind` is a place in the order, `alive` counts the tuples by place.

    An arrival enters the answer if there are fewer than `limit` tuples, or if it precedes the last tuple of the answer,
    which then leaves. A departure from the answer lets in the tuple after the last one of the answer.
    """
    if not len(events.time):
        return events
    place, time, change = (np.append(0, lane) for lane in events)  # event 0 stands for the state before all events
    count = int(alive.sum()) + np.cumsum(change)
    last = nth_alive(alive, place, change, np.minimum(count, limit))
    before, last_before = np.append(0, count[:-1]), np.append(0, last[:-1])
    arrives, departs = change > 0, change < 0
    pushes_out = arrives & (before >= limit) & (place < last_before)
    enters = pushes_out | (arrives & (before < limit))
    lets_in = departs & (before > limit) & (place <= last_before)
    leaves = lets_in | (departs & (before <= limit))
    parts = [(place, enters, 1), (last_before, pushes_out, -1), (place, leaves, -1), (last, lets_in, 1)]
    return BagChanges(
        np.concatenate([places[where] for places, where, _ in parts]),
        np.concatenate([time[where] for _, where, _ in parts]),
        np.repeat([sign for *_, sign in parts], [int(where.sum()) for _, where, _ in parts]),
    )
