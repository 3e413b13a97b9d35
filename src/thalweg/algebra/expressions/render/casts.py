"""CAST as SQL: each engine's own conversion, kept to the texts and ranges that Thalweg's has."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions.render.dialect import Dialect, double, text, type_name
from thalweg.algebra.expressions.render.guards import in_domain, let, matches
from thalweg.algebra.expressions.texts import BIGINT_TEXT, DOUBLE_TEXT, FALSE_TEXTS, TIMESTAMP_TEXT, TRUE_TEXTS
from thalweg.core.types import DataType

CastWriter = Callable[[str, Dialect], str]


def _plain(wanted: DataType) -> CastWriter:
    return lambda sql, dialect: f"CAST({sql} AS {type_name(wanted, dialect)})"


def _trim(sql: str, dialect: Dialect) -> str:
    return f"trim({sql}, ' ')" if dialect is Dialect.DUCKDB else f"trim({sql})"


def _read(pattern: str, wanted: DataType) -> CastWriter:
    def write(sql: str, dialect: Dialect) -> str:
        def body(trimmed: str) -> str:
            read = f"TRY_CAST({trimmed} AS {wanted})"
            read = in_domain(read, dialect) if wanted is DataType.BIGINT else read
            return f"CASE WHEN {matches(trimmed, pattern, dialect)} THEN {read} END"

        return let("text_", _trim(sql, dialect), dialect, body)

    return write


def _to_boolean(sql: str, dialect: Dialect) -> str:
    true, false = (", ".join(text(t, dialect) for t in texts) for texts in (TRUE_TEXTS, FALSE_TEXTS))
    return let(
        "word_",
        f"lower({_trim(sql, dialect)})",
        dialect,
        lambda word: f"CASE WHEN {word} IN ({true}) THEN TRUE WHEN {word} IN ({false}) THEN FALSE END",
    )


def _to_timestamp(sql: str, dialect: Dialect) -> str:
    def body(trimmed: str) -> str:
        # Every zone a text can have here is UTC, so its Z can be dropped.
        bare = f"rtrim({trimmed}, 'Z')" if dialect is Dialect.DUCKDB else f"rtrim('Z', {trimmed})"
        return f"CASE WHEN {matches(trimmed, TIMESTAMP_TEXT, dialect)} THEN TRY_CAST({bare} AS TIMESTAMP) END"

    return let("text_", _trim(sql, dialect), dialect, body)


def _double_to_bigint(sql: str, dialect: Dialect) -> str:
    # Both bounds are doubles; Spark would take 2^63 for the greatest BIGINT.
    low, high = double(-(2.0**63), dialect), double(2.0**63, dialect)

    def body(x: str) -> str:
        whole = f"trunc({x})" if dialect is Dialect.DUCKDB else x
        return f"CASE WHEN {x} > {low} AND {x} < {high} THEN CAST({whole} AS BIGINT) END"

    return let("x_", sql, dialect, body)


def _double_to_string(sql: str, dialect: Dialect) -> str:
    """The shortest text that reads back as the same number, as Python writes it; zero has no sign."""
    show = _show_in_duckdb if dialect is Dialect.DUCKDB else _show_in_spark
    return let("x_", sql, dialect, show)


def _show_in_duckdb(x: str) -> str:
    return f"CASE WHEN {x} = 0 THEN '0.0' ELSE CAST({x} AS VARCHAR) END"


def _show_in_spark(x: str) -> str:
    plain = f"CAST(CAST(CAST({x} AS STRING) AS DECIMAL(38, 21)) AS STRING)"
    # Java before 19 shows more digits than needed: take the fewest that read back.
    texts = f"transform(sequence(0, 16), k_ -> format_string(concat('%.', k_, 'e'), {x}))"
    return (
        f"CASE WHEN {x} = 0 THEN '0.0' "
        f"WHEN abs({x}) = {double(float('inf'), Dialect.SPARK)} THEN CASE WHEN {x} > 0 THEN 'inf' ELSE '-inf' END "
        rf"WHEN abs({x}) >= 1e-4D AND abs({x}) < 1e16D THEN regexp_replace({plain}, '(\\.[0-9]+?)0+$', '$1') "
        f"WHEN {x} IS NOT NULL THEN get(filter({texts}, t_ -> CAST(t_ AS DOUBLE) = {x}), 0) END"
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
