"""Changes of a table: they wait for their time, and then become rows that the table gains and loses.

A deletion of a row that the table does not have is returned as unmatched: operators must not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Flags, Ints, Lane, lane_dtype, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode, KeyTable
from thalweg.kernel.state.timeline import Timeline


class Changes(NamedTuple):
    """Changes of a table in order of arrival, each with its time and sign."""

    time: Ints
    sign: Ints
    columns: tuple[Lane, ...]

    def take(self, rows: Lane | slice) -> Changes:
        """Some of the changes."""
        return Changes(self.time[rows], self.sign[rows], tuple(lane[rows] for lane in self.columns))


class KeyedContents(Stateful, kind="keyed-contents/1"):
    """A table with a primary key: a row replaces the one with its key, and a key alone is enough to delete one."""

    KEPT = ("_keys", "_present", "_rows")

    def __init__(self, schema: Schema, key: Sequence[int]) -> None:
        self._key = tuple(key)
        self._keys = KeyTable([schema[i].type for i in key])
        self._present = ByCode(np.int64, 0)
        self._rows = [ByCode(lane_dtype(f.type), 0) for f in schema]

    def apply(self, changes: Changes) -> tuple[Changes, Flags]:
        """The rows gained and lost, and which changes are deletions without a row."""
        count = len(changes.time)
        codes = self._keys.encode([changes.columns[i] for i in self._key], count)
        for kept in (self._present, *self._rows):
            kept.fit(self._keys.size)
        order = np.lexsort((np.arange(count), changes.time, codes))
        ordered, codes = changes.take(order), codes[order]
        first = np.append(True, codes[1:] != codes[:-1])
        before = tuple(
            np.where(first, kept.values[codes], np.roll(lane, 1))
            for kept, lane in zip(self._rows, ordered.columns, strict=True)
        )
        gained = ordered.sign > 0
        was_there = np.where(first, self._present.values[codes] > 0, np.roll(gained, 1))
        self._remember(codes, ordered, np.append(codes[1:] != codes[:-1], True))
        lost = Changes(ordered.time, np.full(count, -1), before).take(was_there)
        unmatched = np.zeros(count, dtype=np.bool_)
        unmatched[order] = ~gained & ~was_there
        return _by_time(lost, ordered.take(gained)), unmatched

    def _remember(self, codes: Ints, ordered: Changes, last: Flags) -> None:
        """Keep the last change of each key."""
        codes, ordered = codes[last], ordered.take(last)
        self._present.values[codes] = ordered.sign > 0
        for kept, lane in zip(self._rows, ordered.columns, strict=True):
            kept.values[codes] = lane
        self._keys.release(codes[ordered.sign < 0])


class CountedContents(Stateful, kind="counted-contents/1"):
    """A table without a key: a bag of rows. Within an instant rows are gained before others are lost."""

    KEPT = ("_keys", "_held")

    def __init__(self, schema: Schema) -> None:
        self._keys = KeyTable([f.type for f in schema])
        self._held = ByCode(np.int64, 0)

    def apply(self, changes: Changes) -> tuple[Changes, Flags]:
        """The rows gained and lost, and which changes are deletions without a row."""
        count = len(changes.time)
        codes = self._keys.encode(changes.columns, count)
        self._held.fit(self._keys.size)
        order = np.lexsort((-changes.sign, changes.time, codes))
        sign, sorted_codes = changes.sign[order], codes[order]
        first = np.flatnonzero(np.append(True, sorted_codes[1:] != sorted_codes[:-1]))
        group = np.repeat(np.arange(len(first)), np.diff(np.append(first, count)))
        held = self._held.values[sorted_codes[first]]
        sums = np.cumsum(sign)
        level = sums - (sums[first] - sign[first])[group] + held[group]  # as if a count could be negative
        # The least level of a row so far; rows are kept apart by moving each below all before it.
        apart = group * (2 * count + int(held.max(initial=0)) + 2)
        least = np.minimum(np.minimum.accumulate(level - apart) + apart, 0)
        owed = np.append(0, least[:-1])
        owed[first] = 0
        in_vain = least < owed
        last = np.append(first[1:], count) - 1
        self._held.values[sorted_codes[first]] = (level - least)[last]
        self._keys.release(sorted_codes[first][(level - least)[last] == 0])
        unmatched = np.zeros(count, dtype=np.bool_)
        unmatched[order] = in_vain
        return changes.take(~unmatched), unmatched


def _by_time(lost: Changes, gained: Changes) -> Changes:
    both = zip(lost.columns, gained.columns, strict=True)
    together = Changes(
        np.concatenate([lost.time, gained.time]),
        np.concatenate([lost.sign, gained.sign]),
        tuple(np.concatenate(lanes) for lanes in both),
    )
    return together.take(np.argsort(together.time, kind="stable"))


class Updates(Stateful, kind="updates/1"):
    """Changes that wait for their time. None is late: a change with an earlier time counts from now on.

    `key` is the table's primary key, empty if it has none; None if the table never changes.
    """

    KEPT = ("_waiting", "_count", "_contents")

    def __init__(self, schema: Schema, key: Sequence[int] | None, dated: bool) -> None:
        self._dated = dated
        self._waiting = Timeline()
        self._count = 0  # changes so far, which orders those of one instant
        self._contents: KeyedContents | CountedContents | None = None  # of a table that changes
        if key is not None:
            self._contents = KeyedContents(schema, key) if key else CountedContents(schema)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, columns: Sequence[Lane], time: Ints, sign: Ints, before: Instant) -> None:
        """More changes."""
        order = np.arange(self._count, self._count + len(time))
        self._count += len(time)
        self._waiting.add(np.maximum(time, before), order, sign, *columns)

    def add_rows(self, table: pa.RecordBatch, schema: Schema, pool: StringPool, before: Instant) -> None:
        """More changes: a table's rows, then times and signs."""
        columns = [to_lane(table.column(i), field.type, pool) for i, field in enumerate(schema)]
        time, sign = (table.column(len(schema) + i).to_numpy() for i in (0, 1))
        self.add(columns, time, sign.astype(np.int64), before)

    def due(self, now: Instant) -> tuple[Batch, Batch] | None:
        """The rows gained and lost up to and at `now`, and the deletions that found no row."""
        due = self._waiting.due(now)
        if due is None:
            return None
        time, order, sign, *columns = due
        changes = Changes(time, sign, tuple(columns)).take(np.lexsort((order, time)))
        if self._contents is None:
            return self._batch(changes), self._batch(changes.take(slice(0)))
        applied, unmatched = self._contents.apply(changes)
        return self._batch(applied), self._batch(changes.take(unmatched))

    def _batch(self, changes: Changes) -> Batch:
        forever = np.full(len(changes.time), FOREVER)
        dates = Dates(np.full(len(changes.time), BEGINNING), forever) if self._dated else None
        return Batch(changes.columns, changes.time, forever, changes.sign.astype(np.int8), dates)
