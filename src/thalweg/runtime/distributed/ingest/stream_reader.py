"""A stream's rows become messages: rows for the groups that they belong to, and the stream's clock for every shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import Expression
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FIRST_TIMESTAMP, FOREVER, LAST_TIMESTAMP, LONGEST, Instant
from thalweg.kernel.sweep.evaluate import Condition
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import one_batch
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.routing import (
    REASON,
    TIME,
    Objections,
    Ports,
    send_rows,
    split,
    split_bad_rows,
)
from thalweg.runtime.distributed.ingest.side_outputs import pack_side_output

AnswerRows = Callable[[Sequence[pa.RecordBatch]], Message]  # answers rows in the reading task; an ANSWERED message


@dataclass(frozen=True)
class StreamReader:
    """How to read a stream. Its rows are the schema's columns and TIME, perhaps REASON and TEXT."""

    source: str
    schema: Schema
    ports: Ports
    layouts: Layouts
    stamped: bool
    ahead: int | None = None  # how far a row's time may be ahead of the system's clock, in microseconds
    needed: tuple[int, ...] | None = None  # the columns that the query reads, if others come for the sake of late rows
    condition: Expression | None = None  # over the columns that are read: of other rows only the time matters

    @property
    def needs_clock(self) -> bool:
        """Whether it must know the query's clock."""
        return self.needed is not None or self.condition is not None

    def messages(
        self,
        table: pa.Table,
        part: int,
        system: int,
        before: Instant = BEGINNING,
        answer: AnswerRows | None = None,
    ) -> list[Message]:
        """The rows of one part for every port and group; rows that are no tuples go to group 0, with the reason.

        `system` is the system's clock as of the batch, in microseconds, `before` the query's clock when the batch
        began. Rows with an earlier time are late; if the table has columns that are not `needed`, late rows go to
        group 0 with all columns. With `answer` only late rows are sent on.
        """
        if not table.num_rows:
            return []
        width = len(self.schema)
        time = table.column(width).cast(pa.int64())
        table = table.set_column(width, TIME, time)
        good, messages, wrong = table, list[Message](), self._objections(time, system)
        if wrong or REASON in table.column_names:
            good, bad = split_bad_rows(table, width, self.source, wrong)
            messages = [Message(MessageKind.BAD_ROWS, 0, 0, part, BEGINNING, system, blob) for blob in bad]
        first, clock = _span(good.column(width))
        schema, needed = self.schema, tuple(range(width))
        if self.needed is not None:
            schema, needed = Schema(tuple(self.schema[i] for i in self.needed)), self.needed
            if first < before:
                late, good = split(good, pc.less(good.column(width), int(before)))
                blob = pack_side_output(late.select(range(width + 1)), self.source)
                messages.append(Message(MessageKind.LATE_ROWS, 0, 0, part, BEGINNING, system, blob))
        good = good.select([*needed, width])
        if answer is not None:
            in_time, good = good, good.slice(0, 0)
            if first < before:
                good, in_time = split(in_time, pc.less(in_time.column(len(schema)), int(before)))
            messages.append(answer([self._selected(rows, schema, before) for rows in in_time.to_batches()]))
        rows = one_batch(good)
        if self.condition is not None:
            rows = self._selected(rows, schema, before)
        for port, key in self.ports:
            like = Message(MessageKind.ROWS, 0, port, part, clock, system)
            messages += send_rows(rows, schema, key, self.layouts, like)
        return messages

    def _selected(self, rows: pa.RecordBatch, schema: Schema, before: Instant) -> pa.RecordBatch:
        """The rows that satisfy the condition, and late ones, which are counted and kept."""
        if self.condition is None or not rows.num_rows:
            return rows
        pool = StringPool()
        test = Condition(self.condition, schema, pool)
        lanes = [to_lane(rows.column(i), schema[i].type, pool) for i in test.reads]
        holds = test.holds_on(lanes, rows.num_rows) | (rows.column(len(schema)).to_numpy() < before)
        return rows if holds.all() else rows.filter(pa.array(holds))

    def _objections(self, time: pa.ChunkedArray, system: int) -> Objections:
        """Where times are wrong, and why; mostly the first and the last time show that none is."""
        low, high = (FIRST_TIMESTAMP, LAST_TIMESTAMP) if self.stamped else (-LONGEST, LONGEST)
        furthest = high if self.ahead is None else min(high, system + self.ahead)
        first, last = _span(time)
        if not time.null_count and low <= first and last <= furthest:
            return ()
        return (
            (pc.is_null(time), "no timestamp"),
            (pc.or_(pc.less(time, low), pc.greater(time, high)), "a time that no tuple can have"),
            (pc.greater(time, furthest), "ahead of the system's clock by more than is allowed"),
        )


def _span(time: pa.ChunkedArray) -> tuple[Instant, Instant]:
    """The first and the last of some times; of none, (FOREVER, BEGINNING)."""
    span = pc.min_max(time)
    return (FOREVER, BEGINNING) if span["min"].as_py() is None else (span["min"].as_py(), span["max"].as_py())
