"""Rows that are pushed to a stream: their time and values, the stream's clock (watermark), and late rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thalweg.algebra.catalog import Stream
from thalweg.core.errors import DataError, OutOfOrderError
from thalweg.core.python_values import RowLike, read_instant, read_row, show_row
from thalweg.core.rows import Row
from thalweg.core.time import Clock, Instant


@dataclass
class StreamClock:
    """The watermark: `now` = max(greatest ts seen - lateness, the instant advanced to). All rows before it have come.

    A row with ts = now is not late: an instant is complete once time has left it.
    """

    stream: Stream
    now: Instant | None = None
    late: list[tuple[Any, ...]] = field(default_factory=list)

    def accepts(self, ts: Instant) -> bool:
        """Whether a row of `ts` is not behind the clock."""
        return self.now is None or ts >= self.now

    def see(self, ts: Instant) -> None:
        """A row of `ts` has come."""
        self.advance(ts - (self.stream.lateness or 0))

    def advance(self, t: Instant) -> None:
        """Time has come to `t`; it never goes back."""
        self.now = t if self.now is None else max(self.now, t)

    def take(self, rows: Iterable[RowLike]) -> Iterator[tuple[Instant, Row]]:
        """Read pushed rows and move the clock; late rows are kept, the others are given on with their times.

        Without a declared lateness one late row refuses all.
        """
        read = [read_arrival(self.stream, row, i) for i, row in enumerate(rows)]
        if self.stream.lateness is None:
            self._check_order(read)
        for ts, row in read:
            if self.accepts(ts):
                self.see(ts)
                yield ts, row
            else:
                self.late.append(row if self.stream.timestamp is not None else (ts, *row))

    def late_rows(self) -> list[tuple[Any, ...]]:
        """The late rows as they were pushed, in order of arrival."""
        schema = self.stream.schema
        return [show_row(schema, row) if self.stream.timestamp is not None else row for row in self.late]

    def _check_order(self, rows: Sequence[tuple[Instant, Row]]) -> None:
        at = StreamClock(self.stream, self.now)
        for ts, _ in rows:
            if not at.accepts(ts):
                raise at.refusal(ts)
            at.see(ts)

    def refusal(self, ts: Instant) -> OutOfOrderError:
        """The error for a row behind the clock where no lateness is declared."""
        clock = self.stream.clock
        return OutOfOrderError(
            f"stream {self.stream.name} is at {clock.show(self.now or 0)}; a row of {clock.show(ts)} comes too late",
            hint=f"CREATE STREAM {self.stream.name} (...) LATENESS extent lets rows come late; others must be in order",
        )


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
