"""The events in a file: tuples that arrive on a stream, or updates of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from thalweg.algebra.catalog import Relation, Stream
from thalweg.core.errors import DataError
from thalweg.core.rows import Row
from thalweg.core.schema import Field
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.core.types import DataType
from thalweg.formats.recorded.records import Wanted, read_records

INSERT, DELETE, UPDATE = "+", "-", "~"
AT, OP = "_at", "_op"


class RecordedEvent(NamedTuple):
    """At `ts`, `row` arrives on the stream or changes the table called `name`; `where` is its place in a file.

    A row of a table without a time is there from the start: its `ts` is BEGINNING.
    """

    ts: Instant
    name: str
    op: str
    row: Row
    where: str


@dataclass
class BadRows:
    """What to do with rows that cannot be read: stop with an error, or count and skip them."""

    skip: bool = False
    count: int = 0
    first: DataError | None = field(default=None)

    def meet(self, error: DataError) -> None:
        """Raise the error of a bad row, or count it."""
        if not self.skip:
            raise error
        self.count += 1
        self.first = self.first or error


def arrivals(stream: Stream, path: Path, bad: BadRows, time_column: str = "ts") -> Iterator[RecordedEvent]:
    """The tuples of a file, in its order. Without TIMESTAMP BY, the file's `time_column` holds their times."""
    wanted = [Wanted(f) for f in stream.schema]
    if stream.timestamp is None:
        wanted.append(Wanted(Field(time_column, DataType.BIGINT)))
    place = len(wanted) - 1 if stream.timestamp is None else stream.timestamp
    for where, values in read_records(path, wanted):
        if isinstance(values, DataError):
            bad.meet(values)
            continue
        ts = values[place]
        if ts is None:
            bad.meet(DataError(f"{where}: the time of a row, {wanted[place].field.name}, must not be NULL"))
            continue
        yield RecordedEvent(int(ts), stream.name, INSERT, values[: len(stream.schema)], where)


def updates(relation: Relation, paths: Sequence[Path], bad: BadRows, clock: Clock) -> list[RecordedEvent]:
    """The updates of a table in order of time; a file may have columns `_at` (the time) and `_op` (+, - or ~)."""
    time_type = DataType.TIMESTAMP if clock is Clock.TIMESTAMPS else DataType.BIGINT
    wanted = [Wanted(f) for f in relation.schema]
    wanted += [Wanted(Field(AT, time_type), optional=True), Wanted(Field(OP, DataType.STRING), optional=True)]
    events = []
    for path in paths:
        for where, values in read_records(path, wanted):
            event = values if isinstance(values, DataError) else _update(relation, values, where)
            if isinstance(event, DataError):
                bad.meet(event)
            else:
                events.append(event)
    return sorted(events, key=lambda e: e.ts)


def _update(relation: Relation, values: Row, where: str) -> RecordedEvent | DataError:
    *row, at, op = values
    if op not in (None, INSERT, DELETE, UPDATE):
        return DataError(
            f"{where}: column {OP} wants an operation, got {op!r}",
            candidates=(INSERT, DELETE, UPDATE),
            hint="+ inserts the row, - deletes the row with its key, ~ replaces it",
        )
    ts = BEGINNING if at is None else int(at)
    return RecordedEvent(ts, relation.name, str(op or INSERT), tuple(row), where)
