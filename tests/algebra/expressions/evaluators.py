"""Evaluates expressions by batch (Arrow), by row (the reference) and as SQL (DuckDB), and compares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import duckdb
import pyarrow as pa

from thalweg.algebra.expressions import Expression
from thalweg.algebra.expressions.render import Dialect, render
from thalweg.algebra.expressions.vectorise import compile_expression
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.reference.scalars import evaluate

_IN_MICROSECONDS = (DataType.TIMESTAMP, DataType.INTERVAL)


def by_row(expression: Expression, rows: Sequence[Row]) -> list[Value]:
    return [evaluate(expression, row) for row in rows]


def by_batch(expression: Expression, schema: Schema, rows: Sequence[Row]) -> list[Value]:
    result = compile_expression(expression)(columns(schema, rows), len(rows))
    assert isinstance(result, pa.Array) and result.type == expression.type.arrow and len(result) == len(rows)
    result.validate(full=True)
    values: list[Value] = (result.cast(pa.int64()) if expression.type in _IN_MICROSECONDS else result).to_pylist()
    return values


def by_duckdb(expressions: Sequence[Expression], schema: Schema, rows: Sequence[Row]) -> list[list[Value]]:
    """The values of each expression, in the order of the rows."""
    fields = [pa.field(f"c{i}", t.arrow) for i, t in enumerate(schema.types)]
    table = pa.table([*columns(schema, rows), pa.array(range(len(rows)))], pa.schema([*fields, ("n", pa.int64())]))
    shown = [_shown(e) for e in expressions]
    connection = _connection()
    connection.register("input", table)
    found = connection.execute(f"SELECT {', '.join(shown)} FROM input ORDER BY n").fetchall()
    return [list(column) for column in zip(*found, strict=True)]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def _shown(expression: Expression) -> str:
    sql = render(expression, Dialect.DUCKDB, lambda i: f"c{i}")
    return f"epoch_us({sql})" if expression.type in _IN_MICROSECONDS else sql


def columns(schema: Schema, rows: Sequence[Row]) -> list[pa.Array]:
    return [pa.array([row[i] for row in rows], t.arrow) for i, t in enumerate(schema.types)]


def same(a: Value, b: Value) -> bool:
    """Equal, with the same Python type; DOUBLEs up to the last digits."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=1e-9)
    return type(a) is type(b) and a == b


def check(expressions: Sequence[Expression], schema: Schema, rows: Sequence[Row]) -> None:
    """All three evaluators give the same values."""
    sql = by_duckdb(expressions, schema, rows)
    for expression, in_duckdb in zip(expressions, sql, strict=True):
        wanted = by_row(expression, rows)
        for name, got in (("batch", by_batch(expression, schema, rows)), ("duckdb", in_duckdb)):
            wrong = [(r, w, g) for r, w, g in zip(rows, wanted, got, strict=True) if not same(w, g)]
            assert not wrong, f"{expression} by {name}: (row, wanted, got) = {wrong[:5]}"
