"""The changes of an answer as changes of counts: by row, by how much, and when."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.time import BEGINNING, Instant
from thalweg.runtime.spark.tasks.answer_rows import EXP, SIGN, TS

_COUNT, _AT = "count", "at"


class TableEvent(NamedTuple):
    """The row's count changes by `change` at an instant."""

    row: tuple[Any, ...]
    change: int
    at: Instant

    @property
    def key(self) -> str:
        """The row's digest."""
        return row_key(self.row)


def table_events(gained: pa.Table, now: Instant) -> Iterator[TableEvent]:
    """The events of a batch, those of equal rows at one time summed up; events that are due are dated now."""
    if not gained.num_rows:
        return
    sign = gained.column(SIGN).cast(pa.int64())
    own = [column for name, column in zip(gained.column_names, gained.columns, strict=True) if name not in _TIMES]
    names = [f"c{i}" for i in range(len(own))]  # the answer's own names may be any
    rows = pa.table(own, names=names)
    starts = _dated(rows, pc.fill_null(_ticks(gained.column(TS)), BEGINNING), sign, now)
    ends = _dated(rows, _ticks(gained.column(EXP)), pc.negate(sign), now)
    events = pa.concat_tables([starts, ends.filter(pc.is_valid(ends.column(_AT)))])
    summed = events.group_by([*names, _AT]).aggregate([(_COUNT, "sum")])
    summed = summed.filter(pc.not_equal(summed.column(f"{_COUNT}_sum"), 0))
    found = zip(*(summed.column(name).to_pylist() for name in names), strict=True)
    counts, times = (summed.column(name).to_pylist() for name in (f"{_COUNT}_sum", _AT))
    for row, count, at in zip(found, counts, times, strict=True):
        yield TableEvent(row, count, at)


def row_key(row: tuple[Any, ...]) -> str:
    """A digest by which a database finds a row, NULLs included.

    >>> row_key((1, None, -0.0)) == row_key((1, None, 0.0))
    True
    """
    spelt = repr(tuple(value + 0.0 if isinstance(value, float) else value for value in row))
    return blake2b(spelt.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_TIMES = (TS, EXP, SIGN)


def _dated(rows: pa.Table, at: pa.ChunkedArray, count: pa.ChunkedArray, now: Instant) -> pa.Table:
    """Changes of counts with their times; due changes are dated now, so that they can be summed up."""
    due = pc.if_else(pc.less_equal(at, now), pa.scalar(int(now), pa.int64()), at)
    return rows.append_column(_COUNT, count).append_column(_AT, due)


def _ticks(times: pa.ChunkedArray) -> pa.ChunkedArray:
    return times.cast(pa.int64())
