"""Databases for a table sink: how to connect, and the SQL names of their types.

The sink sends only plain SQL (CREATE TABLE, INSERT ... SELECT, UPDATE, DELETE), so any driver that follows Python's
DB-API can be used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Protocol

from thalweg.core.errors import MissingPackageError
from thalweg.core.time import format_timestamp, from_datetime
from thalweg.core.types import DataType

ParamStyle = Literal["qmark", "numeric", "format", "pyformat"]


class Cursor(Protocol):
    """A cursor of Python's DB-API."""

    rowcount: Any

    def execute(self, sql: Any, values: Any = ..., /) -> Any:
        """Run a statement."""

    def executemany(self, sql: Any, values: Any, /) -> Any:
        """Run a statement for each row of values."""

    def fetchall(self) -> list[Any]:
        """The rows of a SELECT."""


class Connection(Protocol):
    """A connection of Python's DB-API, without autocommit."""

    def cursor(self) -> Any:
        """To run statements with."""

    def commit(self) -> Any:
        """Commit the transaction."""

    def rollback(self) -> Any:
        """Undo the transaction."""

    def close(self) -> Any:
        """Undo what is not committed, and disconnect."""


def _as_is(value: Any) -> Any:
    return value


_STANDARD: Mapping[DataType, str] = {
    DataType.BOOLEAN: "BOOLEAN",
    DataType.BIGINT: "BIGINT",
    DataType.DOUBLE: "DOUBLE PRECISION",
    DataType.STRING: "TEXT",
    DataType.TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    DataType.INTERVAL: "INTERVAL",
}


@dataclass(frozen=True)
class Database:
    """How to connect, the driver's paramstyle, the names of our types, and how to convert a value."""

    connect: Callable[[], Connection]
    paramstyle: ParamStyle = "qmark"
    types: Mapping[DataType, str] = field(default_factory=lambda: _STANDARD)
    value: Callable[[Any], Any] = _as_is
    quote: str = '"'

    def name(self, *parts: str) -> str:
        """A quoted identifier."""
        return ".".join(f"{self.quote}{part.replace(self.quote, self.quote * 2)}{self.quote}" for part in parts)

    def literally(self, sql: str) -> str:
        """Escape % in a part of a statement, where the driver would take it for a parameter."""
        return sql.replace("%", "%%") if self.paramstyle in ("format", "pyformat") else sql

    def marks(self, count: int) -> Sequence[str]:
        """The placeholders of `count` values."""
        match self.paramstyle:
            case "qmark":
                return ["?"] * count
            case "numeric":
                return [f":{i + 1}" for i in range(count)]
        return ["%s"] * count


def sqlite(path: str | Path) -> Database:
    """A file of SQLite's. A TIMESTAMP is ISO text in UTC, an INTERVAL a number of microseconds."""
    where = str(Path(path).absolute())
    types = {**_STANDARD, DataType.TIMESTAMP: "TEXT", DataType.INTERVAL: "INTEGER", DataType.BIGINT: "INTEGER"}
    return Database(lambda: sqlite3.connect(where, timeout=60), "qmark", types, _for_sqlite)


def postgres(address: str) -> Database:
    """A PostgreSQL, by its URI or connection string; wants `pip install 'thalweg[postgres]'`."""
    try:
        import psycopg
    except ImportError:
        raise MissingPackageError(
            "writing to PostgreSQL needs the driver psycopg", hint="pip install 'thalweg[postgres]'"
        ) from None
    return Database(lambda: psycopg.connect(address), "format")


def _for_sqlite(value: Any) -> Any:
    match value:
        case datetime():
            return format_timestamp(from_datetime(value))
        case timedelta():
            return value // timedelta(microseconds=1)
    return value
