"""Would catch rows that go to another group than the one that holds their key: checkpoints depend on it."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from thalweg.algebra.expressions import Column
from thalweg.core.byte_strings import ByteStrings
from thalweg.core.lanes import to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.runtime.distributed.exchange.checksums import checksums
from thalweg.runtime.distributed.exchange.partitioning import Partitioner, groups_of_columns

WORDS = st.text(max_size=8) | st.text(min_size=30, max_size=90)


@given(st.lists(WORDS, max_size=12))
def test_checksums_are_those_of_zlib(words: list[str]) -> None:
    array = pa.array(words, pa.string())
    sums = checksums(ByteStrings.of(array)) if words else np.empty(0)
    assert sums.tolist() == [crc32(word.encode()) for word in words]


@given(st.lists(st.tuples(st.none() | WORDS, st.none() | st.integers(-5, 5)), min_size=1, max_size=12))
def test_rows_that_are_read_and_rows_that_are_sent_on_have_the_same_groups(
    rows: list[tuple[str | None, int | None]],
) -> None:
    schema = Schema.of(name=DataType.STRING, k=DataType.BIGINT)
    columns = [pa.array(column, f.type.arrow) for column, f in zip(zip(*rows, strict=True), schema, strict=True)]
    pool = StringPool()
    lanes = [to_lane(column, f.type, pool) for column, f in zip(columns, schema, strict=True)]
    by_lanes = Partitioner([Column(0, DataType.STRING), Column(1, DataType.BIGINT)], schema, pool, 7)
    wanted = by_lanes.groups(lanes, len(rows)).tolist()
    assert groups_of_columns(columns, schema.types, 7).tolist() == wanted


def test_groups_stay_what_they_are() -> None:
    words = pa.array(
        ["elbe", "main", "", None, "a key that is longer than sixty-four bytes, and so is summed up alone"]
    )
    assert groups_of_columns([words], [DataType.STRING], 16).tolist() == GROUPS


GROUPS = [8, 11, 0, 0, 9]
