"""Rows that are pushed to a stream: when each comes, what it holds, and whether they come in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thalweg.algebra.catalog import Stream
from thalweg.core.errors import DataError
from thalweg.core.rows import Row
from thalweg.core.time import Clock, Instant
from thalweg.runtime.local.clock import StreamClock
from thalweg.runtime.local.values import RowLike, read_instant, read_row


def read_arrival(stream: Stream, values: RowLike, i: int) -> tuple[Instant, Row]:
    """The time and the columns of row `i` of a call, checked."""
    where = f"row {i} for {stream.name}"
    if stream.timestamp is not None:
        row = read_row(stream.schema, values, where)
        ts = row[stream.timestamp]
        if ts is None:
            raise DataError(f"{where}: the timestamp {stream.schema[stream.timestamp].name} is NULL")
        return int(ts), row
    if isinstance(values, Mapping):
        if stream.schema.find("ts"):
            raise DataError(
                f"{where}: {stream.name} has a column ts, so a mapping cannot give the row's time too",
                hint="push a tuple: (time, columns...)",
            )
        folded = {str(name).casefold(): value for name, value in values.items()}
        ts = folded.pop("ts", None)
        values = folded
    elif isinstance(values, Sequence) and len(values) == len(stream.schema) + 1:
        ts, values = values[0], values[1:]
    else:
        raise DataError(f"{where}: expected a time and {len(stream.schema)} values {stream.schema}, got {values!r}")
    return read_instant(Clock.TICKS, ts, where), read_row(stream.schema, values, where)


def check_order(clock: StreamClock, rows: Sequence[tuple[Instant, Row]]) -> None:
    """OutOfOrderError if a row comes behind the stream's clock, which the rows before it move."""
    at = StreamClock(clock.stream, clock.now)
    for ts, _ in rows:
        if not at.accepts(ts):
            raise at.refusal(ts)
        at.see(ts)
