"""Would catch a table that is not the answer: an end forgotten, a row counted twice, a batch applied twice or half."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.spark.sinks.databases import bag, select, start_postgres
from strategies.effort import examples
from thalweg.algebra.catalog import Stream
from thalweg.algebra.plan import StreamScan
from thalweg.core.errors import CheckpointError, DataError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.schema import to_arrow
from thalweg.runtime.spark.sinks import Database, SinkContext, TableSink, sqlite

SCHEMA = Schema.of(k=DataType.BIGINT, s=DataType.STRING)
EVERY = Schema.of(
    b=DataType.BOOLEAN, d=DataType.DOUBLE, t=DataType.TIMESTAMP, i=DataType.INTERVAL, **{'odd %s "x': DataType.STRING}
)
CHANGES = pa.schema([*to_arrow(SCHEMA), ("_ts", pa.int64()), ("_exp", pa.int64()), ("_sign", pa.int8())])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    handle, database = start_postgres(tmp_path_factory.mktemp("postgres"))
    yield database
    handle.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        return sqlite(tmp_path / "answers.db")
    found: Database = request.getfixturevalue("server")
    return found


def sink(database: Database, table: str, schema: Schema = SCHEMA, stamped: bool = False) -> TableSink:
    made = TableSink(database, table)
    made.open(SinkContext(StreamScan(Stream("s", schema)), stamped, Checkpoint(Path("nowhere"))))
    return made


def changes(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(CHANGES.names, row, strict=True)) for row in rows], schema=CHANGES)


def test_a_flow_is_refused_because_its_queries_have_no_common_columns(tmp_path: Path) -> None:
    context = SinkContext(None, False, Checkpoint(tmp_path))
    with pytest.raises(DataError, match="needs the columns of one query, but a flow gives it the packed changes"):
        TableSink(sqlite(tmp_path / "answers.db"), "t").open(context)


def test_ends_come_when_only_time_passes_and_a_batch_counts_once(database: Database) -> None:
    table = sink(database, "t")
    first = changes(
        (1, "a", None, None, 1), (2, "b", 3, 7, 1), (2, "b", 4, 9, 1), (3, None, 4, 6, 1), (4, "x", 2, 4, 1)
    )
    for _ in range(2):
        table.put(first, 0, 5, "mine")
        assert bag(table.answer()) == {(1, "a"): 1, (2, "b"): 2, (3, None): 1}
    table.put(changes((3, None, 6, None, 1), (1, "a", 6, None, -1)), 1, 6, "mine")
    assert bag(table.answer()) == {(2, "b"): 2, (3, None): 1}, "one left as another of its kind came"
    table.put(first, 0, 9, "mine")
    table.put(changes(), 1, 9, "mine")
    assert select(database, "SELECT * FROM t__batch") == [("mine", 1, 6)], "time does not pass in an old batch"
    table.put(changes((5, "c", 1, 20, 1), (5, "c", 8, 15, -1)), 2, 8, "mine")
    assert bag(table.answer()) == {(2, "b"): 1, (3, None): 1}
    table.put(changes(), 3, 16, "mine")
    assert bag(table.answer()) == {(5, "c"): 1, (3, None): 1}, "what was to come back came back"
    with pytest.raises(CheckpointError, match="kept by a query with another checkpoint, and is at its batch 3"):
        table.put(first, 0, 5, "another's")


def test_every_type_and_any_name(database: Database) -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    rows: list[dict[str, Any]] = [
        {"b": True, "d": -0.0, "t": noon, "i": timedelta(seconds=1), 'odd %s "x': "ü'"},
        {"b": True, "d": 0.0, "t": noon, "i": timedelta(seconds=1), 'odd %s "x': "ü'"},
        {"b": None, "d": None, "t": None, "i": None, 'odd %s "x': None},
    ]
    stamp = pa.timestamp("us", "UTC")
    schema = pa.schema([*to_arrow(EVERY), ("_ts", stamp), ("_exp", stamp), ("_sign", pa.int8())])
    tuples = pa.Table.from_pylist([{**row, "_ts": noon, "_exp": None, "_sign": 1} for row in rows], schema=schema)
    name = 'every "type" %s'
    table = sink(database, name, EVERY, stamped=True)
    table.put(tuples, 0, int(noon.timestamp()) * 10**6, "mine")
    found = {row[-1]: row[:-1] for row in table.answer()}
    assert found[1] == (None,) * 5
    kept = ("2026-01-31 12:00:00", 10**6) if database.paramstyle == "qmark" else (noon, timedelta(seconds=1))
    assert found[2] == (True, 0.0, *kept, "ü'")


def test_a_table_of_somebody_else_s_is_left_alone(database: Database) -> None:
    connection = database.connect()
    connection.cursor().execute("CREATE TABLE mine (k INTEGER)")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match="there is a table mine already"):
        sink(database, "mine").put(changes(), 0, 1, "mine")
    with pytest.raises(CheckpointError, match="is new, but the query has done 3 batches"):
        sink(database, "late").put(changes(), 3, 1, "mine")
    with pytest.raises(DataError, match="must know the query's clock"):
        TableSink(database, "t").answer()


class DyingError(Exception):
    pass


def test_a_crash_in_the_middle_of_a_batch_leaves_nothing_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = sink(database, "crash")
    table.put(changes((1, "a", 1, 5, 1)), 0, 1, "mine")
    with monkeypatch.context() as broken:
        broken.setattr(table, "_apply", lambda *args: (_ for _ in ()).throw(DyingError()))
        with pytest.raises(DyingError):
            table.put(changes((2, "b", 2, 5, 1)), 1, 2, "mine")
    assert select(database, "SELECT batch FROM crash__batch") == [(0,)]
    table.put(changes((2, "b", 2, 5, 1)), 1, 2, "mine")
    assert bag(table.answer()) == {(1, "a"): 1, (2, "b"): 1}


# k, from when, how long (None: no known end)
rows = st.tuples(st.integers(0, 2), st.integers(0, 9), st.none() | st.integers(1, 9))


@examples(40)
@given(tuples=st.lists(rows, max_size=30), cuts=st.sets(st.integers(0, 20), min_size=1))
def test_the_table_is_the_bag_at_the_clock(
    tuples: list[tuple[int, int, int | None]], cuts: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = sink(sqlite(tmp_path_factory.mktemp("drawn") / "answers.db"), "t")
    before = -1
    for batch, now in enumerate(sorted(cuts)):
        new = [
            (k, "x", ts, None if length is None else ts + length, 1) for k, ts, length in tuples if before < ts <= now
        ]
        table.put(changes(*new), batch, now, "mine")
        alive = [k for k, ts, length in tuples if ts <= now and (length is None or now < ts + length)]
        assert bag(table.answer()) == Counter((k, "x") for k in alive)
        before = now
