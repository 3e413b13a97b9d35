"""Would catch a stream that is sent through an exchange only to meet a table small enough to be copied."""

from __future__ import annotations

import pytest

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.cql import compile_query
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.runtime.distributed.stages import BROADCAST, Cut, cut

CATALOG = Catalog()
CATALOG.add(Stream("s", Schema.of(src=DataType.BIGINT, dst=DataType.BIGINT)))
CATALOG.add(Relation("hosts", Schema.of(ip=DataType.BIGINT, kind=DataType.STRING), (0,), retroactive=False))
CATALOG.add(Relation("live", Schema.of(ip=DataType.BIGINT, kind=DataType.STRING), (0,), retroactive=True))


def parts(cql: str, *copied: str) -> Cut:
    return cut(Blueprint(compile_query(cql, CATALOG)).build(), copied)


def keys(cut: Cut) -> list[object]:
    return [port.key if port.key in (BROADCAST, None) else [str(part) for part in port.key or ()] for port in cut.ports]


TOP = "SELECT src, COUNT(*) AS n FROM s [RANGE 9] JOIN {} h ON dst = h.ip GROUP BY src"


@pytest.mark.parametrize("table", ["hosts", "live"])
def test_the_stream_is_spread_by_what_comes_after_the_join(table: str) -> None:
    assert len(parts(TOP.format(table)).stages) == 2
    copied = parts(TOP.format(table), table)
    assert len(copied.stages) == 1
    assert keys(copied) == [["s.src"], BROADCAST]


def test_a_join_on_anything_runs_in_all_shards() -> None:
    query = "SELECT * FROM s [RANGE 9] JOIN live h ON dst < h.ip"
    assert keys(parts(query)) == [[], []]
    copied = parts(query, "live")
    assert keys(copied) == [None, BROADCAST]
    assert not any(step.alone for stage in copied.stages for step in stage.steps)


def test_what_comes_after_by_the_tables_columns_is_exchanged_once() -> None:
    copied = parts("SELECT kind, COUNT(*) AS n FROM s [RANGE 9] JOIN hosts h ON dst = h.ip GROUP BY kind", "hosts")
    assert len(copied.stages) == 2
    assert keys(copied)[:2] == [None, BROADCAST]


def test_what_is_computed_of_the_table_alone_is_computed_everywhere() -> None:
    copied = parts("SELECT src FROM s [RANGE 9] WHERE NOT EXISTS (SELECT 1 FROM live h WHERE h.ip = dst)", "live")
    assert len(copied.stages) == 1
    assert keys(copied) == [None, BROADCAST]


def test_a_table_that_comes_first_is_spread() -> None:
    copied = parts("SELECT * FROM live h JOIN s [RANGE 9] ON dst = h.ip", "live")
    assert BROADCAST not in keys(copied)
