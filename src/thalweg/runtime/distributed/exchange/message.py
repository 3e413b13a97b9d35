"""Messages between the tasks of one micro-batch.

The order of arrival is that of parts, and within a part the order of its tuples. It does not depend on the order in
which messages come.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import pyarrow as pa

from thalweg.core.time import Instant
from thalweg.kernel.pipeline.metrics import TupleCounts
from thalweg.runtime.distributed.exchange.codec import pack, unpack


class MessageKind(IntEnum):
    """What a message brings. Between Spark's tasks the kind is a column of integers."""

    ROWS = 0  # tuples of a stream, changes of a table or results of an earlier stage, for a port
    HEARTBEAT = 1  # the time and nothing else
    ADVANCE = 2  # a user's command: let time pass up to `clock`
    DRAIN = 3  # a user's command: nothing more will come
    BAD_ROWS = 4  # rows of a source that are no tuples, and why
    LATE_ROWS = 5  # rows of a source that came too late
    FLOW_COMMAND = 6  # a query to add to a flow, or to drop: a `FileLine`
    ANSWERED = 7  # counts of rows that the task that read them has answered, see `Answered`
    CONTROL = 8  # a user's command, as its file has it: a `FileLine`, which means ADVANCE or DRAIN


class Message(NamedTuple):
    """A message to one group of keys. A message to a shard is addressed to any group of that shard."""

    kind: MessageKind
    group: int
    port: int  # of ROWS; 0 for other kinds
    part: int  # of the source, or the shard of the earlier stage
    clock: Instant  # of ROWS: the greatest time of the part; of HEARTBEAT and ADVANCE: what time it is
    system: int  # when Spark planned the micro-batch, by the system's clock, in microseconds
    blob: bytes | pa.Buffer = b""


def in_order(messages: Iterable[Message]) -> list[Message]:
    """Messages in an order that does not depend on the order in which they came."""
    return sorted(messages, key=lambda message: (message.kind, message.port, message.part, message.group))


class FileLine(NamedTuple):
    """The blob of a message that is a line of a file: the name of the file, a line break, and the line."""

    file: str
    line: bytes

    @staticmethod
    def unpacked(blob: bytes | pa.Buffer) -> FileLine:
        """From the blob of a message."""
        name, _, line = bytes(blob).partition(b"\n")
        return FileLine(name.decode(errors="replace"), line)


class Answered(NamedTuple):
    """The blob of an ANSWERED message: the rows, the tuples of each operator, and the sink's note about the answers."""

    arrived: int
    operators: list[TupleCounts]
    note: str

    def packed(self) -> pa.Buffer:
        """As the blob of a message."""
        row = {"arrived": self.arrived, "operators": [counts._asdict() for counts in self.operators]}
        return pack(pa.RecordBatch.from_pylist([{**row, "note": self.note}], schema=_ANSWERED))

    @staticmethod
    def unpacked(blob: bytes | pa.Buffer) -> Answered:
        """The inverse of `packed`."""
        (row,) = unpack(blob).to_pylist()
        return Answered(row["arrived"], [TupleCounts(**counts) for counts in row["operators"]], row["note"])


_COUNTS = pa.struct([(name, pa.int64()) for name in TupleCounts._fields])
_ANSWERED = pa.schema([("arrived", pa.int64()), ("operators", pa.list_(_COUNTS)), ("note", pa.string())])
