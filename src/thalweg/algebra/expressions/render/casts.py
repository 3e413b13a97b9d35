"""CAST as SQL: each engine's own conversion, kept to the texts and ranges that Thalweg's has."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions.render.dialect import Dialect, double, text, type_name
from thalweg.algebra.expressions.render.guards import matches
from thalweg.algebra.expressions.texts import BIGINT_TEXT, DOUBLE_TEXT, FALSE_TEXTS, TIMESTAMP_TEXT, TRUE_TEXTS
from thalweg.core.types import DataType

CastWriter = Callable[[str, Dialect], str]


def _plain(wanted: DataType) -> CastWriter:
    return lambda sql, dialect: f"CAST({sql} AS {type_name(wanted, dialect)})"


def _trim(sql: str, dialect: Dialect) -> str:
    return f"trim({sql}, ' ')" if dialect is Dialect.DUCKDB else f"trim({sql})"


def _read(pattern: str, wanted: DataType) -> CastWriter:
    def write(sql: str, dialect: Dialect) -> str:
        sql = _trim(sql, dialect)
        return f"CASE WHEN {matches(sql, pattern, dialect)} THEN TRY_CAST({sql} AS {wanted}) END"

    return write


def _to_boolean(sql: str, dialect: Dialect) -> str:
    word = f"lower({_trim(sql, dialect)})"
    words = [", ".join(text(t, dialect) for t in texts) for texts in (TRUE_TEXTS, FALSE_TEXTS)]
    return f"CASE WHEN {word} IN ({words[0]}) THEN TRUE WHEN {word} IN ({words[1]}) THEN FALSE END"


def _to_timestamp(sql: str, dialect: Dialect) -> str:
    sql = _trim(sql, dialect)
    # Every zone a text can have here is UTC, so that its Z says nothing more.
    bare = f"rtrim({sql}, 'Z')" if dialect is Dialect.DUCKDB else f"rtrim('Z', {sql})"
    return f"CASE WHEN {matches(sql, TIMESTAMP_TEXT, dialect)} THEN TRY_CAST({bare} AS TIMESTAMP) END"


def _double_to_bigint(sql: str, dialect: Dialect) -> str:
    # Both bounds are doubles; Spark would take 2^63 for the greatest BIGINT.
    low, high = double(-(2.0**63), dialect), double(2.0**63, dialect)
    whole = f"trunc({sql})" if dialect is Dialect.DUCKDB else sql
    return f"CASE WHEN {sql} >= {low} AND {sql} < {high} THEN CAST({whole} AS BIGINT) END"


def _double_to_string(sql: str, dialect: Dialect) -> str:
    """The shortest text that reads back as the same number, as Python writes it; zero has no sign."""
    if dialect is Dialect.DUCKDB:
        return f"CASE WHEN {sql} = 0 THEN '0.0' ELSE CAST({sql} AS VARCHAR) END"
    plain = f"CAST(CAST(CAST({sql} AS STRING) AS DECIMAL(38, 21)) AS STRING)"
    # Java before 19 shows more digits than needed: take the fewest that read back.
    texts = f"transform(sequence(0, 16), k -> format_string(concat('%.', k, 'e'), {sql}))"
    return (
        f"CASE WHEN {sql} = 0 THEN '0.0' "
        f"WHEN abs({sql}) = {double(float('inf'), dialect)} THEN CASE WHEN {sql} > 0 THEN 'inf' ELSE '-inf' END "
        rf"WHEN abs({sql}) >= 1e-4D AND abs({sql}) < 1e16D THEN regexp_replace({plain}, '(\\.[0-9]+?)0+$', '$1') "
        f"WHEN {sql} IS NOT NULL THEN get(filter({texts}, t -> CAST(t AS DOUBLE) = {sql}), 0) END"
    )


CASTS: dict[tuple[DataType, DataType], CastWriter] = {
    (DataType.BOOLEAN, DataType.BIGINT): _plain(DataType.BIGINT),
    (DataType.BOOLEAN, DataType.STRING): _plain(DataType.STRING),
    (DataType.BIGINT, DataType.BOOLEAN): lambda sql, _: f"({sql} <> 0)",
    (DataType.BIGINT, DataType.DOUBLE): _plain(DataType.DOUBLE),
    (DataType.BIGINT, DataType.STRING): _plain(DataType.STRING),
    (DataType.DOUBLE, DataType.BIGINT): _double_to_bigint,
    (DataType.DOUBLE, DataType.STRING): _double_to_string,
    (DataType.STRING, DataType.BOOLEAN): _to_boolean,
    (DataType.STRING, DataType.BIGINT): _read(BIGINT_TEXT, DataType.BIGINT),
    (DataType.STRING, DataType.DOUBLE): _read(DOUBLE_TEXT, DataType.DOUBLE),
    (DataType.STRING, DataType.TIMESTAMP): _to_timestamp,
    (DataType.TIMESTAMP, DataType.STRING): _plain(DataType.STRING),
}
