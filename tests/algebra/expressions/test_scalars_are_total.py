"""What docs/semantics.md says of scalars, sentence by sentence.

Would catch: all evaluators agreeing on the wrong value.
"""

from __future__ import annotations

import math

import pytest

from algebra.expressions.evaluators import by_row, check, same
from thalweg.algebra.expressions import Expression, Literal, call, case, cast, literal
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.time import DAY, LAST_TIMESTAMP, SECOND, parse_timestamp
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType

_NONE = Literal(None, DataType.BOOLEAN)


def _at(text: str) -> Literal:
    return Literal(parse_timestamp(text), DataType.TIMESTAMP)


def _for(micros: int) -> Literal:
    return Literal(micros, DataType.INTERVAL)


def _f(function: str, *args: Value | Literal) -> Expression:
    return call(function, *(a if isinstance(a, Literal) else literal(a) for a in args))


CASES: list[tuple[Expression, Value]] = [
    # no value in SQL's sense
    (_f("/", 1, 0), None),
    (_f("%", 7, 0), None),
    (_f("%", 7.5, 0.0), None),
    (_f("+", INT64_MAX, 1), None),
    (_f("-", INT64_MIN, 1), None),
    (_f("*", 2**32, 2**31), None),
    (_f("*", 2, -(2**62)), None),  # -2^63 is no BIGINT
    (_f("*", -1, INT64_MIN), INT64_MAX),
    (_f("negate", INT64_MIN), INT64_MAX),
    (_f("abs", INT64_MIN), INT64_MAX),
    (cast(literal("-9223372036854775808"), DataType.BIGINT), None),
    (cast(literal(-(2.0**63)), DataType.BIGINT), None),
    (_f("%", INT64_MIN, -1), 0),
    (_f("sqrt", -1.0), None),
    (_f("ln", 0.0), None),
    (_f("log10", -1.0), None),
    (_f("power", -8.0, 0.5), None),
    (_f("power", 0.0, -1.0), None),
    (cast(literal("twelve"), DataType.BIGINT), None),
    (cast(literal("1.5"), DataType.BIGINT), None),
    (cast(literal("9223372036854775808"), DataType.BIGINT), None),
    (cast(literal("2023-02-29"), DataType.TIMESTAMP), None),
    (cast(literal(2.0**63), DataType.BIGINT), None),
    (_f("+", _at("9999-12-31 23:59:59.999999"), _for(1)), None),
    (_f("to_timestamp", 1e18), None),
    (_f("date_trunc", "fortnight", _at("2026-01-01")), None),
    (_f("substring", "abc", 1, -1), None),
    (_f("like", "a\\", "a\\"), None),
    # no NaN, but infinity
    (_f("-", math.inf, math.inf), None),
    (_f("*", 0.0, math.inf), None),
    (_f("%", math.inf, 2.0), None),
    (cast(literal("nan"), DataType.DOUBLE), None),
    (literal(math.nan), None),
    (_f("*", 1e308, 10.0), math.inf),
    (_f("exp", 1000.0), math.inf),
    # three-valued logic
    (_f("and", _NONE, False), False),
    (_f("and", _NONE, True), None),
    (_f("or", _NONE, True), True),
    (_f("not", _NONE), None),
    (_f("=", _NONE, _NONE), None),
    (_f("is_distinct", _NONE, _NONE), False),
    (_f("in", 1, None, 2), None),
    (_f("in", 2, None, 2), True),
    (case([(_NONE, literal(1))], literal(2)), 2),
    # numbers
    (_f("/", 7, 2), 3.5),
    (_f("%", -7, 3), -1),
    (_f("%", 7, -3), 1),
    (cast(literal(-1.9), DataType.BIGINT), -1),
    (_f("round", 2.5), 3.0),
    (_f("round", -2.5), -3.0),
    (_f("round", -0.49999999999999994), 0.0),
    (_f("round", 1234.5678, 2), 1234.57),
    (_f("round", 1250.0, -2), 1300.0),
    (_f("/", _for(90 * SECOND), _for(60 * SECOND)), 1.5),
    # strings
    (_f("concat", "a", None, "b"), "ab"),
    (_f("concat", None), ""),
    (_f("||", "a", None), None),
    (_f("greatest", None, 1, 3), 3),
    (_f("least", None, "b", "Z"), "Z"),
    (_f("<", "z", "é"), True),
    (_f("<", "\uffff", "😀"), True),
    (_f("length", "e\u0301😀"), 3),
    (_f("substring", "a😀cd", 2, 2), "😀c"),
    (_f("substring", "abc", 0, 2), "a"),
    (_f("substring", "abc", -INT64_MAX, INT64_MAX), ""),
    (_f("strpos", "😀ab", "b"), 3),
    (_f("strpos", "abc", "x"), 0),
    (_f("left", "abc", -1), ""),
    (_f("right", "a😀c", 2), "😀c"),
    (_f("like", "50%", r"50\%"), True),
    (_f("like", "50 km", r"50\%"), False),
    (_f("like", "a\nb", "a_b"), True),
    (_f("like", "aXb", "a%b"), True),
    (_f("replace", "abc", "", "-"), "abc"),
    (_f("upper", "straße"), "STRAẞE"),
    (_f("lower", "ΟΔΟΣ"), "οδοσ"),
    # timestamps
    (_f("dayofweek", _at("2026-01-04")), 0),
    (_f("date_trunc", "week", _at("2026-01-04 12:00:00")), parse_timestamp("2025-12-29")),
    (_f("date_trunc", "QUARTER", _at("1969-12-31")), parse_timestamp("1969-10-01")),
    (_f("hour", _at("1969-12-31 23:59:59.999999")), 23),
    (_f("-", _at("2026-01-02"), _at("2026-01-01")), DAY),
    (_f("epoch", _at("1970-01-01 00:00:01.5")), 1.5),
    (_f("to_timestamp", -0.5), -SECOND // 2),
    # casts
    (cast(literal(1e16), DataType.STRING), "1e+16"),
    (cast(literal(-0.0), DataType.STRING), "0.0"),
    (cast(literal(True), DataType.STRING), "true"),
    (cast(literal(" No "), DataType.BOOLEAN), False),
    (cast(literal(" +007 "), DataType.BIGINT), 7),
    (cast(literal("0" * 5000 + "5"), DataType.BIGINT), 5),
    (cast(literal("1e999"), DataType.DOUBLE), math.inf),
    (cast(literal("9999-12-31T23:59:59.9999999Z"), DataType.TIMESTAMP), LAST_TIMESTAMP),
    (cast(_at("2026-01-31 07:00:00.5"), DataType.STRING), "2026-01-31 07:00:00.5"),
]


@pytest.mark.parametrize(("expression", "wanted"), CASES, ids=[str(e)[:60] for e, _ in CASES])
def test_value(expression: Expression, wanted: Value) -> None:
    nothing = Schema.of(unused=DataType.BIGINT)
    assert same(by_row(expression, [(1,)])[0], wanted)
    check([expression], nothing, [(1,), (2,)])
