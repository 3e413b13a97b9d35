"""The two dialects of SQL, how each writes types and constants, and the arguments of a function's writer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from thalweg.algebra.expressions.nodes import Call, Literal
from thalweg.core.rows import Value
from thalweg.core.time import format_timestamp
from thalweg.core.types import DataType


class Dialect(Enum):
    """A dialect of SQL; the value is sqlglot's name for it.

    Spark is version 4 in ANSI mode with `spark.sql.session.timeZone` UTC; a TIMESTAMP is Spark's TIMESTAMP.
    """

    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(frozen=True)
class Site:
    """A call being rendered: the node, the SQL of its arguments, the dialect."""

    call: Call
    args: tuple[str, ...]
    dialect: Dialect

    @property
    def types(self) -> tuple[DataType, ...]:
        """The arguments' types."""
        return tuple(a.type for a in self.call.args)

    def constant(self, index: int) -> Value:
        """The value of an argument that is a constant, else None."""
        node = self.call.args[index]
        return node.value if isinstance(node, Literal) else None


Writer = Callable[[Site], str]


def both(template: str) -> Writer:
    """A writer for functions that the dialects spell alike; `{0}` is the first argument."""
    return lambda site: template.format(*site.args)


def each(duckdb: str, spark: str) -> Writer:
    """A writer with a template per dialect."""
    templates = {Dialect.DUCKDB: duckdb, Dialect.SPARK: spark}
    return lambda site: templates[site.dialect].format(*site.args)


_TYPES = {
    Dialect.DUCKDB: {DataType.STRING: "VARCHAR", DataType.INTERVAL: "INTERVAL"},
    Dialect.SPARK: {DataType.STRING: "STRING", DataType.INTERVAL: "INTERVAL DAY TO SECOND"},
}


def type_name(type_: DataType, dialect: Dialect) -> str:
    """The type as CAST wants it."""
    return _TYPES[dialect].get(type_, type_.value)


def constant(value: Value, type_: DataType, dialect: Dialect) -> str:
    """A constant that has exactly `type_`, also when it is NULL."""
    if value is None:
        return "NULL" if type_ is DataType.NULL else f"CAST(NULL AS {type_name(type_, dialect)})"
    if isinstance(value, str):
        return text(value, dialect)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return double(value, dialect)
    if type_ is DataType.TIMESTAMP:
        return f"TIMESTAMP '{format_timestamp(value)}'"
    if type_ is DataType.INTERVAL:
        return interval(bigint(value, dialect), dialect)
    return bigint(value, dialect)


def text(value: str, dialect: Dialect) -> str:
    """A string constant."""
    if dialect is Dialect.SPARK:
        # Spark reads \ escapes, and replaces ${name} before it parses.
        return "'" + value.replace("\\", r"\\").replace("'", r"\'").replace("${", r"\u0024{") + "'"
    return "'" + value.replace("'", "''") + "'"


def bigint(value: int, dialect: Dialect) -> str:
    """A 64-bit constant: a bare number would be a narrower type."""
    return f"CAST({value} AS BIGINT)" if dialect is Dialect.DUCKDB else f"{value}L"


def double(value: float, dialect: Dialect) -> str:
    """A DOUBLE constant: a bare number with a point would be a decimal."""
    if not math.isfinite(value):
        return f"CAST('{value}' AS DOUBLE)"
    shown = repr(value) if "e" in repr(value) else f"{value!r}e0"
    shown += "D" if dialect is Dialect.SPARK else ""
    return f"({shown})" if shown.startswith("-") else shown


def interval(micros: str, dialect: Dialect) -> str:
    """The interval of so many microseconds."""
    return f"to_microseconds({micros})" if dialect is Dialect.DUCKDB else f"(INTERVAL '0.000001' SECOND * {micros})"
