"""What a table brings, as parcels: its changes, or all of it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.expressions import columns_of
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.exchange.codec import pack
from thalweg.runtime.distributed.exchange.message import BAD, Parcel
from thalweg.runtime.distributed.ingest.routing import TIME, Ports, addressed, one_batch, spread_rows, without_bad_rows
from thalweg.runtime.distributed.stages import EVERYWHERE, Placement


@dataclass(frozen=True)
class TableReading:
    """How to read the changes of a table. Its rows are the schema's columns, TIME and SIGN, perhaps REASON and TEXT.

    A change without a time counts from the beginning, or from now on. Where the table has a primary key (`key`: its
    positions) and a port's key does not follow from it, every shard is told: the row that is replaced may be anywhere.
    """

    source: str
    schema: Schema
    ports: Ports
    layouts: Layouts
    key: tuple[int, ...] = ()

    def parcels(self, table: pa.Table, part: int, system: int) -> list[Parcel]:
        """The rows of one part for every port and group, or shard."""
        if not table.num_rows:
            return []
        width = len(self.schema)
        wrong = ((pc.is_null(table.column(width + 1)), "an _op that is neither + nor -"),)
        good, bad = without_bad_rows(table, width, self.source, wrong)
        parcels = [Parcel(0, BAD, part, BEGINNING, system, blob) for blob in bad]
        rows = whole_table(good.select(range(width + 2)))
        for port, key in self.ports:
            if is_spread(key, self.key):
                blobs = spread_rows(rows, self.schema, key or (), self.layouts)
            else:
                blobs = dict.fromkeys(range(self.layouts.last.shards), pack(rows))
            parcels += addressed(blobs, Parcel(0, port, part, BEGINNING, system, b""), self.layouts)
        return parcels


def is_spread(port_key: Placement, table_key: tuple[int, ...]) -> bool:
    """Whether the rows of a table that have the same primary key all go to the same group of a port."""
    if port_key is EVERYWHERE:
        return False
    return not table_key or all(columns_of(part) <= set(table_key) for part in port_key or ())


def whole_table(table: pa.Table) -> pa.RecordBatch:
    """A table's rows with their times and signs; those without a time are there from the beginning, or from now on."""
    place = table.num_columns - 2
    time = pc.fill_null(table.column(place), int(BEGINNING))
    return one_batch(table.set_column(place, TIME, time))
