"""A table in a database that always holds the present answer.

    <name>            the answer's columns, `_count` (how often the row is in it) and `_key` (a digest of the row)
    <name>__pending   future changes of `_count`, which are due at `_at`, in ticks
    <name>__batch     the last applied batch, the query's clock then, and the id of its checkpoint

All three change in one transaction per batch, so the table is exactly once: if the process dies after the database
has committed and before Spark has, the repeated batch finds its number there and is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from thalweg.core.errors import CheckpointError, DataError
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import DataType
from thalweg.runtime.spark.sinks.base import SinkContext
from thalweg.runtime.spark.sinks.database import Connection, Cursor, Database
from thalweg.runtime.spark.tasks.answer_rows import EXP, SIGN, TS

COUNT, KEY, AT = "_count", "_key", "_at"


class TableSink:
    """Keeps `table` (perhaps `schema.table`) of a database equal to the answer at the query's clock.

    A row that is in the answer twice is one row with `_count` 2. The first batch creates the table, which must not
    exist before.
    """

    def __init__(self, database: Database, table: str) -> None:
        self.database, self.table = database, table
        *path, name = table.split(".")
        self._name, self._pending, self._batch = (
            database.name(*path, name + suffix) for suffix in ("", "__pending", "__batch")
        )
        self._index = database.name(f"{name}__pending_at")
        self._context: SinkContext | None = None

    def open(self, context: SinkContext) -> None:
        """Remember the query that the sink belongs to; a flow is refused."""
        _ = context.schema  # raises for a flow
        self._context = context

    def write(self, changes: DataFrame, batch: int) -> None:
        """Apply a batch, and all pending changes up to its clock."""
        context = self._need_context()
        gained = changes.toArrow()
        self.put(gained, batch, context.now(batch), context.owner())

    def put(self, gained: pa.Table, batch: int, now: Instant, owner: str) -> None:
        """Apply a batch, given its changes as rows, the clock, and the id of the checkpoint."""
        with closing(self.database.connect()) as connection:
            cursor = connection.cursor()
            self._create(connection, cursor)
            if self._claim(cursor, batch, now, owner):
                self._apply(cursor, gained, now)
                connection.commit()

    def answer(self) -> list[tuple[Any, ...]]:
        """The rows of the table: the answer's columns, then `_count`; none before the first batch."""
        columns = ", ".join([*self._columns(), self.database.name(COUNT)])
        with closing(self.database.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(f"SELECT {columns} FROM {self._name}")
            return [tuple(row) for row in cursor.fetchall()]

    # -- the tables

    def _create(self, connection: Connection, cursor: Cursor) -> None:
        """Create the three tables, the one with the batch first: after a crash in between the next start can tell."""
        if self._exists(connection, cursor, self._pending):
            return
        name, types = self.database.name, self.database.types
        text, number = types[DataType.STRING], types[DataType.BIGINT]
        ours = self._exists(connection, cursor, self._batch)
        there = self._exists(connection, cursor, self._name)
        if there and not ours:
            raise DataError(
                f"there is a table {self.table} already, and it is not the answer of a query",
                hint="choose another name, or drop the table",
            )
        own = [f"{c} {types[f.type]}" for c, f in zip(self._columns(), self._need_context().schema, strict=True)]
        row = ", ".join([*own, f"{name(COUNT)} {number} NOT NULL", f"{name(KEY)} CHAR(32) NOT NULL"])
        statements = [
            f"CREATE TABLE {self._batch} (checkpoint {text}, batch {number}, clock {number})" if not ours else "",
            f"CREATE TABLE {self._name} ({row}, PRIMARY KEY ({name(KEY)}))" if not there else "",
            f"CREATE TABLE {self._pending} ({row}, {name(AT)} {number} NOT NULL)",
            f"CREATE INDEX {self._index} ON {self._pending} ({name(AT)})",
        ]
        for statement in filter(None, statements):
            cursor.execute(statement)
            connection.commit()

    def _exists(self, connection: Connection, cursor: Cursor, table: str) -> bool:
        """Whether a table can be read, in SQL that every database understands."""
        try:
            cursor.execute(f"SELECT 1 FROM {table} WHERE 1 = 0")
        except Exception:  # each driver has its own classes
            connection.rollback()
            return False
        return True

    def _claim(self, cursor: Cursor, batch: int, now: Instant, owner: str) -> bool:
        """Whether the batch is new; if so, record it, which locks out other writers until the commit."""
        [place_batch, place_clock, place_owner, place_last] = self.database.marks(4)
        cursor.execute(f"SELECT checkpoint, batch FROM {self._batch}")
        held = cursor.fetchall()
        if not held and batch > 0:
            raise CheckpointError(
                f"the table {self.table} is new, but the query has done {batch} batches, whose changes it would lack",
                hint="a table sink must be there from the first start on; start the query anew with another checkpoint",
            )
        if not held:
            places = ", ".join(self.database.marks(3))
            into = self.database.literally(f"INSERT INTO {self._batch}")
            cursor.execute(f"{into} VALUES ({places})", (owner, batch, now))
            return True
        if held[0][0] != owner:
            raise CheckpointError(
                f"the table {self.table} is kept by a query with another checkpoint, and is at its batch {held[0][1]}",
                hint=f"go on with that checkpoint, choose another table, or drop {self.table}, {self.table}__pending "
                f"and {self.table}__batch",
            )
        cursor.execute(
            f"{self.database.literally(f'UPDATE {self._batch}')} SET batch = {place_batch}, clock = {place_clock} "
            f"WHERE checkpoint = {place_owner} AND batch < {place_last}",
            (batch, now, owner, batch),
        )
        return bool(cursor.rowcount == 1)

    # -- the changes

    def _apply(self, cursor: Cursor, gained: pa.Table, now: Instant) -> None:
        """Add all changes to the pending ones; the database then sums up those that are due."""
        name, own = self.database.name, ", ".join(self._columns())
        count, key, at = name(COUNT), name(KEY), name(AT)
        rows = list(self._events(gained, now))
        if rows:
            into = self.database.literally(f"INSERT INTO {self._pending} ({own}, {count}, {key}, {at})")
            cursor.executemany(f"{into} VALUES ({', '.join(self.database.marks(len(rows[0])))})", rows)
        due = f"{at} <= {int(now)}"
        same = f"p.{key} = {self._name}.{key}"
        cursor.execute(
            f"UPDATE {self._name} SET {count} = {count} + "
            f"(SELECT SUM(p.{count}) FROM {self._pending} p WHERE p.{due} AND {same}) "
            f"WHERE {key} IN (SELECT {key} FROM {self._pending} WHERE {due})"
        )
        cursor.execute(
            f"INSERT INTO {self._name} ({own}, {count}, {key}) SELECT {own}, SUM({count}), {key} "
            f"FROM {self._pending} p WHERE p.{due} AND NOT EXISTS (SELECT 1 FROM {self._name} WHERE {same}) "
            f"GROUP BY {key}, {own} HAVING SUM({count}) <> 0"
        )
        cursor.execute(
            f"DELETE FROM {self._name} WHERE {count} = 0 AND {key} IN (SELECT {key} FROM {self._pending} WHERE {due})"
        )
        cursor.execute(f"DELETE FROM {self._pending} WHERE {due}")

    def _events(self, gained: pa.Table, now: Instant) -> Iterator[tuple[Any, ...]]:
        """Rows with the change of their count, their key and the time; summed up, and due changes dated now."""
        if not gained.num_rows:
            return
        names = [c for c in gained.column_names if c not in (TS, EXP, SIGN)]
        sign = gained.column(SIGN).cast(pa.int64())
        starts = _events(gained.select(names), pc.fill_null(_ticks(gained.column(TS)), BEGINNING), sign, now)
        ends = _events(gained.select(names), _ticks(gained.column(EXP)), pc.negate(sign), now)
        events = pa.concat_tables([starts, ends.filter(pc.is_valid(ends.column(AT)))])
        summed = events.group_by([*names, AT]).aggregate([(COUNT, "sum")])
        summed = summed.filter(pc.not_equal(summed.column(f"{COUNT}_sum"), 0))
        rows = zip(*(summed.column(c).to_pylist() for c in names), strict=True)
        value = self.database.value
        for row, count, at in zip(
            rows, summed.column(f"{COUNT}_sum").to_pylist(), summed.column(AT).to_pylist(), strict=True
        ):
            yield (*map(value, row), count, row_key(row), at)

    def _columns(self) -> list[str]:
        return [self.database.name(field.name) for field in self._need_context().schema]

    def _need_context(self) -> SinkContext:
        if self._context is None:
            raise DataError("a table sink must know the query's clock", hint="give it to start(sink=...)")
        return self._context


def row_key(row: tuple[Any, ...]) -> str:
    """A digest by which a database finds a row, NULLs included.

    >>> row_key((1, None, -0.0)) == row_key((1, None, 0.0))
    True
    """
    spelt = repr(tuple(value + 0.0 if isinstance(value, float) else value for value in row))
    return blake2b(spelt.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _events(rows: pa.Table, at: pa.ChunkedArray, count: pa.ChunkedArray, now: Instant) -> pa.Table:
    """Changes of counts with their times; due changes are dated now, so that they can be summed up."""
    due = pc.if_else(pc.less_equal(at, now), pa.scalar(int(now), pa.int64()), at)
    return rows.append_column(COUNT, count).append_column(AT, due)


def _ticks(times: pa.ChunkedArray) -> pa.ChunkedArray:
    return times.cast(pa.int64())
