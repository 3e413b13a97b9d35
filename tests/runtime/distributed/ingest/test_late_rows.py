"""Would catch late rows that lose columns because the query does not read them, and dropped rows that tell no time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from thalweg.algebra.expressions import call, column, literal
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.layouts import Layout, Layouts
from thalweg.runtime.distributed.checkpoint.report import LATE, SideOutput
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.distributed.exchange.message import MessageKind
from thalweg.runtime.distributed.ingest.routing import TIME
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs, read_side_output
from thalweg.runtime.distributed.ingest.stream_reader import StreamReader

ONE, TWO = (Layouts(shards, (Layout(0, shards),)) for shards in (1, 2))
SCHEMA = Schema.of(a=DataType.BIGINT, b=DataType.STRING, c=DataType.BIGINT)
ROWS = pa.table(
    [pa.array([1, 2, 3, 4]), pa.array(["x", "y", None, "z"]), pa.array([7, 7, 7, 7]), pa.array([4, 6, 5, None])],
    names=["a", "b", "c", TIME],
)


def test_late_rows_keep_all_columns_and_others_only_those_that_are_read(tmp_path: Path) -> None:
    reader = StreamReader("s", SCHEMA, ((0, None),), TWO, False, needed=(1,))
    messages = reader.messages(ROWS, part=3, system=9, before=5)
    to_side = {message.kind: message for message in messages if message.kind is not MessageKind.ROWS}
    assert set(to_side) == {MessageKind.BAD_ROWS, MessageKind.LATE_ROWS}
    assert all(message.group == 0 for message in to_side.values())
    rows = [unpack(message.blob).to_pydict() for message in messages if message.kind is MessageKind.ROWS]
    assert rows == [{"b": ["y"], TIME: [6]}, {"b": [None], TIME: [5]}]
    assert {message.clock for message in messages if message.kind is MessageKind.ROWS} == {6}
    side_outputs = SideOutputs()
    side_outputs.add_packed(LATE, to_side[MessageKind.LATE_ROWS].blob)
    assert side_outputs.counts == {SideOutput(LATE, "s"): 1}
    TWO.write(tmp_path)
    side_outputs.write(tmp_path, 0, 0, 2)
    (table,) = read_side_output(tmp_path, LATE, "s")
    assert [column.to_pylist() for column in table.columns] == [[1], ["x"], [7], [4]]


def test_a_part_of_late_rows_alone_still_says_that_its_source_is_alive() -> None:
    reader = StreamReader("s", SCHEMA, ((0, None),), ONE, False, needed=(0, 1))
    messages = reader.messages(ROWS, part=0, system=9, before=100)
    assert [(message.kind, message.clock, len(message.blob) > 0) for message in messages] == [
        (MessageKind.BAD_ROWS, BEGINNING, True),
        (MessageKind.LATE_ROWS, BEGINNING, True),
        (MessageKind.ROWS, 6, False),
    ]


def test_rows_that_do_not_qualify_move_the_clock_and_late_ones_are_kept() -> None:
    schema = Schema.of(a=DataType.BIGINT, b=DataType.STRING, c=DataType.BIGINT)
    condition = call("=", column(schema, 1), literal("y"))
    rows = pa.table([[1, 2, 3, 4], ["x", "y", None, "z"], [7, 7, 7, 7], [4, 6, 5, 9]], names=[*"abc", TIME])
    reader = StreamReader("s", schema, ((0, None),), ONE, False, condition=condition)
    assert reader.needs_clock
    (message,) = reader.messages(rows, part=0, system=9, before=5)
    assert message.clock == 9
    assert unpack(message.blob).column(0).to_pylist() == [1, 2], "the late one goes on, to be counted there"
    (message,) = reader.messages(rows.slice(2), part=0, system=9, before=5)
    assert (message.clock, message.blob) == (9, b"")
