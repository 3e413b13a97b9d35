"""A table's changes become messages, for the groups that they belong to or for every shard."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import columns_of
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import one_batch
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.routing import TIME, Ports, send_rows, split_bad_rows
from thalweg.runtime.distributed.stages import BROADCAST, Placement


@dataclass(frozen=True)
class TableReader:
    """How to read the changes of a table. Its rows are the schema's columns, TIME and SIGN, perhaps REASON and TEXT.

    A change without a time counts from the beginning, or from now on. `key` has the positions of the table's primary
    key. If a port's key does not follow from it, changes go to every shard: the row that is replaced may be anywhere.
    """

    source: str
    schema: Schema
    ports: Ports
    layouts: Layouts
    key: tuple[int, ...] = ()

    def messages(self, table: pa.Table, part: int, system: int) -> list[Message]:
        """The rows of one part for every port and group, or shard."""
        if not table.num_rows:
            return []
        width = len(self.schema)
        wrong = ((pc.is_null(table.column(width + 1)), "an _op that is neither + nor -"),)
        good, bad = split_bad_rows(table, width, self.source, wrong)
        messages = [Message(MessageKind.BAD_ROWS, 0, 0, part, BEGINNING, system, blob) for blob in bad]
        rows = table_changes(good.select(range(width + 2)))
        for port, key in self.ports:
            like = Message(MessageKind.ROWS, 0, port, part, BEGINNING, system)
            to_shards = not is_partitioned(key, self.key)
            messages += send_rows(rows, self.schema, key or (), self.layouts, like, to_shards)
        return messages


def is_partitioned(port_key: Placement, table_key: tuple[int, ...]) -> bool:
    """Whether the rows of a table that have the same primary key all go to the same group of a port."""
    if port_key is BROADCAST:
        return False
    return not table_key or all(columns_of(part) <= set(table_key) for part in port_key or ())


def table_changes(table: pa.Table) -> pa.RecordBatch:
    """A table's rows with their times and signs; rows without a time are there from the beginning, or from now on."""
    place = table.num_columns - 2
    time = pc.fill_null(table.column(place), int(BEGINNING))
    return one_batch(table.set_column(place, TIME, time))
