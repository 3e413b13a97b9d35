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


_OPERATIONAL = {"OperationalError", "InterfaceError", "ConnectionError", "TimeoutError"}
_FOR_GOOD = ("authentication failed", "not exist", "n't exist", "no such", "no pg_hba.conf entry")


def is_operational(error: Exception) -> bool:
    """Whether an error has to do with the database's operation and not with our statements: the DB-API's classes."""
    classes = {cls.__name__ for cls in type(error).__mro__}
    return bool(classes & _OPERATIONAL) and not any(text in str(error) for text in _FOR_GOOD)


_STANDARD: Mapping[DataType, str] = {
    DataType.BOOLEAN: "BOOLEAN",
    DataType.BIGINT: "BIGINT",
    DataType.DOUBLE: "DOUBLE PRECISION",
    DataType.STRING: "TEXT",
    DataType.TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    DataType.INTERVAL: "INTERVAL",
}


def is_data_error(error: Exception) -> bool:
    """Whether the database or its driver cannot take a value: the DB-API's DataError, or Python's."""
    classes = {cls.__name__ for cls in type(error).__mro__}
    return bool(classes & {"DataError", "UnicodeEncodeError", "OverflowError"})


@dataclass(frozen=True)
class Database:
    """How to connect, the driver's paramstyle, the names of our types, and how to convert a value.

    `is_transient` tells errors after which a batch is tried again; by default those that the DB-API calls operational.
    `is_poison` tells errors about a value that the database cannot take; by default those that it calls data errors.
    """

    connect: Callable[[], Connection]
    paramstyle: ParamStyle = "qmark"
    types: Mapping[DataType, str] = field(default_factory=lambda: _STANDARD)
    value: Callable[[Any], Any] = _as_is
    quote: str = '"'
    is_transient: Callable[[Exception], bool] = is_operational  # whether a batch may succeed in a moment
    is_poison: Callable[[Exception], bool] = is_data_error  # whether a row has a value that the database cannot take
    longest_name: int = 63  # bytes of an identifier
    reserved: tuple[str, ...] = ()  # names that no column may have

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
    return Database(
        lambda: sqlite3.connect(where, timeout=5),
        "qmark",
        types,
        _for_sqlite,
        is_transient=_is_locked,
        longest_name=1_000,
    )


def postgres(address: str) -> Database:
    """A PostgreSQL, by its URI or connection string; wants `pip install 'thalweg[postgres]'`."""
    try:
        import psycopg
    except ImportError:
        raise MissingPackageError(
            "writing to PostgreSQL needs the driver psycopg", hint="pip install 'thalweg[postgres]'"
        ) from None
    return Database(
        lambda: psycopg.connect(address),
        "format",
        is_transient=_may_pass,
        is_poison=_is_too_much,
        reserved=_POSTGRES_COLUMNS,
    )


def _is_locked(error: Exception) -> bool:
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits say more; the text may name a table "busy"
    return isinstance(error, sqlite3.OperationalError) and primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


# By SQLSTATE: connection lost, rolled back for another, out of resources, not in the right state, shut down.
_PASSING_STATES = ("08", "40", "53", "55", "57P")


_POSTGRES_COLUMNS = ("tableoid", "xmin", "cmin", "xmax", "cmax", "ctid")  # every table has these


def _is_too_much(error: Exception) -> bool:
    """A value of the wrong kind or range, or beyond a limit of PostgreSQL's."""
    return is_data_error(error) or str(getattr(error, "sqlstate", "")).startswith(("22", "54"))


def _may_pass(error: Exception) -> bool:
    state = getattr(error, "sqlstate", None)
    return is_operational(error) if state is None else str(state).startswith(_PASSING_STATES)


def _for_sqlite(value: Any) -> Any:
    match value:
        case datetime():
            return format_timestamp(from_datetime(value))
        case timedelta():
            return value // timedelta(microseconds=1)
    return value
