"""A table in a database that always holds the present answer.

    <name>            the answer's columns, `_count` (how often the row is in it) and `_key` (a digest of the row)
    <name>__pending   future changes of `_count`, which are due at `_at`, in ticks
    <name>__batch     the last applied batch, the query's clock then, and the id of its checkpoint

All three change in one transaction per batch, so the table is exactly once: if the process dies after the database
has committed and before Spark has, the repeated batch finds its number there and is skipped.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from thalweg.core.errors import CheckpointError, DataError
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.core.visible import visible
from thalweg.runtime.distributed.ingest.quota import QUOTA, Quota
from thalweg.runtime.spark.sinks.base import SinkContext
from thalweg.runtime.spark.sinks.column_names import table_columns
from thalweg.runtime.spark.sinks.database import Connection, Cursor, Database
from thalweg.runtime.spark.sinks.rejected import REASON, RejectedRows
from thalweg.runtime.spark.sinks.retry import Retry
from thalweg.runtime.spark.sinks.table_events import TableEvent, table_events

COUNT, KEY, AT = "_count", "_key", "_at"
_LONGEST_SUFFIX = "__pending_at"
_LOG = logging.getLogger("thalweg.sinks")


class TableSink:
    """Keeps `table` (perhaps `schema.table`) of a database equal to the answer at the query's clock.

    A row that is in the answer twice is one row with `_count` 2. The first batch creates the table, which must not
    exist before. `retry` is the policy for errors that may pass, such as a lost connection. A row with a value that the
    database cannot take, such as a NUL character in PostgreSQL, is rejected: it is left out, counted, and kept with the
    reason (`run.rejected()`), up to a `quota`.
    """

    def __init__(self, database: Database, table: str, *, retry: Retry | None = None, quota: Quota = QUOTA) -> None:
        self.database, self.table, self.retry, self._quota = database, table, retry, quota
        self.name = f"TableSink {table}"
        *path, name = table.split(".")
        self._name, self._pending, self._batch = (
            database.name(*path, name + suffix) for suffix in ("", "__pending", "__batch")
        )
        self._index = database.name(f"{name}__pending_at")
        self._context: SinkContext | None = None
        self._collected: tuple[int, pa.Table] | None = None  # a batch that failed to be written

    def open(self, context: SinkContext) -> None:
        """Remember the query that the sink belongs to; a flow and a name that is too long are refused."""
        _ = context.schema  # raises for a flow
        self._context, self._collected = context, None
        name, longest = self.table.split(".")[-1], self.database.longest_name
        if len((name + _LONGEST_SUFFIX).encode()) > longest:
            raise DataError(
                f"the table {name} would need names of more than {longest} bytes, such as {name}{_LONGEST_SUFFIX}",
                hint=f"choose a name of at most {longest - len(_LONGEST_SUFFIX)} bytes",
            )
        for own, column in self.columns.items():
            if own != column:
                _LOG.warning("%s", visible(f"{self.name}: the answer's column {own} is called {column} in the table"))

    @property
    def columns(self) -> dict[str, str]:
        """The names of the answer's columns in the table: those of the query, unless the table cannot have them."""
        names = self._need_context().schema.names
        reserved = (COUNT, KEY, AT, *self.database.reserved)
        return dict(zip(names, table_columns(names, reserved, self.database.longest_name), strict=True))

    def is_transient(self, error: Exception) -> bool:
        """What the database says."""
        return self.database.is_transient(error)

    def write(self, changes: DataFrame, batch: int) -> None:
        """Apply a batch, and all pending changes up to its clock. A further attempt does not run the query again."""
        context = self._need_context()
        if self._collected is None or self._collected[0] != batch:
            self._collected = (batch, changes.toArrow())
        self.put(self._collected[1], batch, context.now(batch), context.owner())
        self._collected = None

    def put(self, gained: pa.Table, batch: int, now: Instant, owner: str) -> None:
        """Apply a batch, given its changes as rows, the clock, and the id of the checkpoint."""
        events = list(table_events(gained, now))
        with closing(self.database.connect()) as connection:
            cursor = connection.cursor()
            self._create(connection, cursor)
            if not self._claim(cursor, batch, now, owner):
                return
            try:
                self._insert(cursor, events)
            except Exception as error:
                if not self.database.is_poison(error):
                    raise
                connection.rollback()
                events = self._without_poison(connection, cursor, events, batch)
                if not self._claim(cursor, batch, now, owner):
                    return
                self._insert(cursor, events)
            self._apply(cursor, now)
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
        except Exception as error:  # each driver has its own classes
            if self.is_transient(error):
                raise
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

    def _insert(self, cursor: Cursor, events: Sequence[TableEvent]) -> None:
        """Add changes to the pending ones."""
        if not events:
            return
        columns = ", ".join([*self._columns(), *map(self.database.name, (COUNT, KEY, AT))])
        value, marks = self.database.value, ", ".join(self.database.marks(len(events[0].row) + 3))
        rows = [(*map(value, event.row), event.change, event.key, event.at) for event in events]
        into = self.database.literally(f"INSERT INTO {self._pending} ({columns})")
        cursor.executemany(f"{into} VALUES ({marks})", rows)

    def _without_poison(
        self, connection: Connection, cursor: Cursor, events: Sequence[TableEvent], batch: int
    ) -> list[TableEvent]:
        """The events that the database takes, found by trying halves; the others are kept aside with the reason.

        A row that leaves the answer has the values with which it came, so it is rejected both times.
        """
        good, rejected, parts = list[TableEvent](), list[tuple[TableEvent, str]](), [events]
        while parts:
            part = parts.pop()
            try:
                self._insert(cursor, part)
                good += part
            except Exception as error:
                if not self.database.is_poison(error):
                    raise
                if len(part) == 1:
                    rejected.append((part[0], visible(f"{type(error).__name__}: {error}")))
                else:
                    parts += [part[len(part) // 2 :], part[: len(part) // 2]]
            finally:
                connection.rollback()
        names = self._need_context().schema.names
        rows = [
            {**dict(zip(names, event.row, strict=True)), COUNT: event.change, AT: event.at, REASON: reason}
            for event, reason in rejected
        ]
        if rows:
            side_outputs = self._need_context().checkpoint.side_outputs
            RejectedRows.of(side_outputs, self.name, self._quota).keep(batch, rows)
            _LOG.warning("%s, batch %d: %d rows are rejected: %s", self.name, batch, len(rows), rows[0][REASON])
        return good

    def _apply(self, cursor: Cursor, now: Instant) -> None:
        """Sum up the pending changes that are due."""
        name, own = self.database.name, ", ".join(self._columns())
        count, key, at = name(COUNT), name(KEY), name(AT)
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

    def _columns(self) -> list[str]:
        return [self.database.name(column) for column in self.columns.values()]

    def _need_context(self) -> SinkContext:
        if self._context is None:
            raise DataError("a table sink must know the query's clock", hint="give it to start(sink=...)")
        return self._context
