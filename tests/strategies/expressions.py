"""Typed random expressions over a random schema, and rows full of the values that break evaluators."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from thalweg.algebra.expressions import Case, Expression, Literal, call, cast, column
from thalweg.algebra.expressions.build import CASTS
from thalweg.algebra.expressions.functions import DATE_TRUNC_UNITS, FUNCTIONS, Alike
from thalweg.core.rows import Row, Value
from thalweg.core.schema import Field, Schema
from thalweg.core.time import DAY, FIRST_TIMESTAMP, LAST_TIMESTAMP, SECOND, parse_timestamp
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType

TYPES = [t for t in DataType if t is not DataType.NULL]

# Values at which some evaluator has, or could have, gone wrong.
EDGES: dict[DataType, list[Value]] = {
    DataType.BOOLEAN: [None, True, False],
    DataType.BIGINT: [None, 0, 1, -1, 2, -3, 7, 10, 2**31, 2**53 + 1, 3037000500, INT64_MIN, INT64_MIN + 1, INT64_MAX],
    DataType.DOUBLE: [
        None, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.675, 0.49999999999999994, -0.49999999999999994, 1e-5, 1e-7,
        1234.5678, 12345678.9, 1e15 + 0.3, 1e16, 4503599627370495.5, 2.0**63, -(2.0**63), 1e22, -1e300, 5e-324,
        math.inf, -math.inf,
    ],
    DataType.STRING: [
        None, "", " ", "a", "ab", "Aba", "  b ", "\ta", "%", "a%", "_b", "\\", "a\\", "a\\%", "\\a", "é", "e\u0301a",
        "😀", "a😀b", "ß", "ﬁİΣς", "ᾳ", "it's", "a\nb", "x\0y", "${a}", "week", "Day", "true", " F ", "no", "-12",
        "+007", "9223372036854775807", "-9223372036854775809", "1.5e3", ".5", "-INF", "nan", "1_0", "1e999",
        "2024-02-29", "2023-02-29", "1969-12-31T23:59:59.5Z", "0001-01-01 00:00:00.1234567", "2024-01-01 24:00",
    ],
    DataType.TIMESTAMP: [
        None, 0, -1, FIRST_TIMESTAMP, FIRST_TIMESTAMP + 1, LAST_TIMESTAMP, 1_500_000,
        *map(parse_timestamp, ("2024-02-29 12:34:56.789012", "1969-12-28 23:59:59.999", "1900-03-01", "2026-01-04")),
    ],
    DataType.INTERVAL: [None, 0, 1, -1, SECOND, -DAY, 90 * DAY + 1, 2**53 + 1, INT64_MIN, INT64_MAX],
    DataType.NULL: [None],
}  # fmt: skip

_ALPHABET = "aAbZ09 %_\\'$éßİΣ😀\n\u0301"
_OTHERS: dict[DataType, SearchStrategy[Value]] = {
    DataType.BIGINT: st.integers(-20, 20) | st.integers(INT64_MIN, INT64_MAX),
    DataType.DOUBLE: st.integers(-40, 40).map(lambda n: n / 4) | st.floats(allow_nan=False),
    DataType.STRING: st.text(_ALPHABET, max_size=6),
    DataType.TIMESTAMP: st.integers(FIRST_TIMESTAMP, LAST_TIMESTAMP),
    DataType.INTERVAL: st.integers(-3 * DAY, 3 * DAY) | st.integers(INT64_MIN, INT64_MAX),
}


def values(type_: DataType) -> SearchStrategy[Value]:
    """Any value of a type, NULL included."""
    edges = st.sampled_from(EDGES[type_])
    return edges | _OTHERS[type_] if type_ in _OTHERS else edges


def rows(schema: Schema) -> SearchStrategy[Row]:
    """Rows that fit a schema."""
    return st.tuples(*map(values, schema.types))


def schemas(most: int = 4) -> SearchStrategy[Schema]:
    """Schemas of a few columns."""
    types = st.lists(st.sampled_from(TYPES), min_size=1, max_size=most)
    return types.map(lambda drawn: Schema(tuple(Field(f"c{i}", t) for i, t in enumerate(drawn))))


def signatures() -> list[tuple[str, tuple[DataType, ...], DataType]]:
    """Every function with every list of argument types (of the least and a greater length), and its result's type."""
    found: list[tuple[str, tuple[DataType, ...], DataType]] = []
    for name, signature in FUNCTIONS.items():
        if not isinstance(signature, Alike):
            found += [(name, overload.args, overload.result) for overload in signature]
            continue
        lengths = {signature.at_least, signature.at_most or signature.at_least + 1}
        taken = [DataType.STRING] if signature.result is DataType.STRING else list(DataType)
        found += [(name, (t,) * n, signature.result or t) for t in taken for n in sorted(lengths)]
    return found


_GIVING = {t: [(name, args) for name, args, result in signatures() if result is t] for t in DataType}


@st.composite
def expressions(draw: DrawFn, schema: Schema, type_: DataType, depth: int) -> Expression:
    """An expression of `type_` over `schema` with at most `depth` functions above each other."""
    here = [i for i, t in enumerate(schema.types) if t is type_]
    kinds = ["literal"] + ["column"] * 3 * bool(here)
    if depth > 0:
        kinds = [*kinds[-1:], "call", "call", "call", "call", "case"]
        kinds += ["cast"] * any(to is type_ for _, to in CASTS)
    match draw(st.sampled_from(kinds)):
        case "literal":
            return Literal(draw(values(type_)), type_)
        case "column":
            return column(schema, draw(st.sampled_from(here)))
        case "cast":
            given = draw(st.sampled_from(sorted((f for f, to in CASTS if to is type_), key=str)))
            return cast(draw(expressions(schema, given, depth - 1)), type_)
        case "case":
            condition = draw(expressions(schema, DataType.BOOLEAN, depth - 1))
            first, second = (draw(expressions(schema, type_, depth - 1)) for _ in range(2))
            return Case(((condition, first),), second, type_)
        case _:
            return _draw_call(draw, schema, type_, depth)


def _draw_call(draw: DrawFn, schema: Schema, type_: DataType, depth: int) -> Expression:
    function, types = draw(st.sampled_from(_GIVING[type_]))
    args = [draw(expressions(schema, t, depth - 1)) for t in types]
    if function == "date_trunc":  # most strings are no unit
        args[0] = Literal(draw(st.sampled_from(DATE_TRUNC_UNITS)), DataType.STRING)
    return call(function, *args)
