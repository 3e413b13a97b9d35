"""Rows as SQL text, and bags compared up to the last digits of a double."""

from __future__ import annotations

import math
from collections.abc import Sequence

from thalweg.core.rows import Bag, Row, Value, sorted_rows
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

_TYPES = {
    DataType.BOOLEAN: "BOOLEAN",
    DataType.BIGINT: "BIGINT",
    DataType.DOUBLE: "DOUBLE",
    DataType.STRING: "VARCHAR",
}


def table(schema: Schema, rows: Sequence[Row], dates: tuple[str, ...] = ()) -> str:
    """A subquery in parentheses with columns c0, c1, ... and the dates that stand at the end of each row."""
    names = [f"c{i}" for i in range(len(schema))] + list(dates)
    types = [_TYPES[t] for t in schema.types] + ["BIGINT"] * len(dates)
    typed = ", ".join(f"CAST({n} AS {t}) AS {n}" for n, t in zip(names, types, strict=True))
    given = rows or [(None,) * len(names)]
    lines = ", ".join(f"({', '.join(map(_literal, row))})" for row in given)
    none = "" if rows else " WHERE FALSE"
    return f"(SELECT {typed} FROM (VALUES {lines}) AS v({', '.join(names)}){none})"


def _literal(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return repr(value)


def close(one: Bag, other: Bag) -> bool:
    """Whether two bags are equal, allowing doubles to differ in their last digits."""
    rows, others = sorted_rows(one), sorted_rows(other)
    return one == other or (len(rows) == len(others) and all(map(_close_rows, rows, others)))


def _close_rows(one: Row, other: Row) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(one, other, strict=True)
    )
