"""Would catch late rows that lose columns because the query does not read them, and dropped rows that tell no time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from thalweg.algebra.expressions import call, column, literal
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.layouts import Layout, Layouts
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.distributed.exchange.message import BAD, TOO_LATE
from thalweg.runtime.distributed.ingest.routing import TIME
from thalweg.runtime.distributed.ingest.side_outputs import LATE, Aside, read_aside
from thalweg.runtime.distributed.ingest.stream_reader import Reading

ONE, TWO = (Layouts(shards, (Layout(0, shards),)) for shards in (1, 2))
SCHEMA = Schema.of(a=DataType.BIGINT, b=DataType.STRING, c=DataType.BIGINT)
ROWS = pa.table(
    [pa.array([1, 2, 3, 4]), pa.array(["x", "y", None, "z"]), pa.array([7, 7, 7, 7]), pa.array([4, 6, 5, None])],
    names=["a", "b", "c", TIME],
)


def test_rows_behind_the_query_go_aside_whole_and_the_others_less_what_nobody_reads(tmp_path: Path) -> None:
    parcels = Reading("s", SCHEMA, ((0, None),), TWO, False, needed=(1,)).parcels(ROWS, part=3, system=9, before=5)
    by_port = {parcel.port: parcel for parcel in parcels if parcel.port < 0}
    assert set(by_port) == {BAD, TOO_LATE} and all(parcel.group == 0 for parcel in by_port.values())
    rows = [unpack(parcel.blob).to_pydict() for parcel in parcels if parcel.port == 0]
    assert rows == [{"b": ["y"], TIME: [6]}, {"b": [None], TIME: [5]}]
    assert {parcel.clock for parcel in parcels if parcel.port == 0} == {6}
    aside = Aside()
    aside.told(LATE, by_port[TOO_LATE].blob)
    assert aside.counts == {"late s": 1}
    TWO.write(tmp_path)
    aside.write(tmp_path, 0, 0, 2)
    (table,) = read_aside(tmp_path, LATE, "s")
    assert [column.to_pylist() for column in table.columns] == [[1], ["x"], [7], [4]]


def test_a_part_of_late_rows_alone_still_says_that_its_source_is_alive() -> None:
    parcels = Reading("s", SCHEMA, ((0, None),), ONE, False, needed=(0, 1)).parcels(ROWS, part=0, system=9, before=100)
    assert [(parcel.port, parcel.clock, len(parcel.blob) > 0) for parcel in parcels] == [
        (BAD, BEGINNING, True),
        (TOO_LATE, BEGINNING, True),
        (0, 6, False),
    ]


def test_rows_that_do_not_qualify_tell_their_time_and_late_ones_are_kept() -> None:
    schema = Schema.of(a=DataType.BIGINT, b=DataType.STRING, c=DataType.BIGINT)
    condition = call("=", column(schema, 1), literal("y"))
    rows = pa.table([[1, 2, 3, 4], ["x", "y", None, "z"], [7, 7, 7, 7], [4, 6, 5, 9]], names=[*"abc", TIME])
    reading = Reading("s", schema, ((0, None),), ONE, False, condition=condition)
    assert reading.minds_the_clock
    (parcel,) = reading.parcels(rows, part=0, system=9, before=5)
    assert parcel.clock == 9
    assert unpack(parcel.blob).column(0).to_pylist() == [1, 2], "the late one goes on, to be counted there"
    (parcel,) = reading.parcels(rows.slice(2), part=0, system=9, before=5)
    assert (parcel.clock, parcel.blob) == (9, b"")
