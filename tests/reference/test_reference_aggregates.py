"""The reference's aggregates against Python's own exact arithmetic, and against every order of their values.

Would catch: a sum whose rounding depends on order, an overflow that raises or wraps, a deviation over n instead of
n - 1, a NULL that counts, a DISTINCT that is forgotten.
"""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.expressions.evaluators import same
from thalweg.algebra.expressions import AGGREGATES, Aggregate, Column
from thalweg.core.rows import Value
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.reference.aggregates import aggregate


def _over(function: str, values: list[Value], type_: DataType = DataType.DOUBLE, distinct: bool = False) -> Value:
    return aggregate(Aggregate.of(function, Column(0, type_), distinct), values)


@pytest.mark.parametrize(
    ("function", "type_", "values", "wanted"),
    [
        ("count", DataType.STRING, [None, "a", None, "a"], 2),
        ("sum", DataType.BIGINT, [None, 2, 3], 5),
        ("sum", DataType.BIGINT, [INT64_MAX, 1], None),
        ("sum", DataType.BIGINT, [INT64_MAX, 1, -1], INT64_MAX),
        ("sum", DataType.INTERVAL, [INT64_MIN, -1], None),
        ("sum", DataType.DOUBLE, [1e16, 1.0, -1e16], 1.0),
        ("sum", DataType.DOUBLE, [1e308, 1e308, -1e308], 1e308),
        ("sum", DataType.DOUBLE, [1e308, 1e308], math.inf),
        ("sum", DataType.DOUBLE, [math.inf, 1.0], math.inf),
        ("sum", DataType.DOUBLE, [math.inf, -math.inf], None),
        ("avg", DataType.BIGINT, [INT64_MAX, INT64_MAX], float(INT64_MAX)),
        ("avg", DataType.DOUBLE, [1.0, None, 2.0], 1.5),
        ("min", DataType.STRING, ["b", None, "Z"], "Z"),
        ("max", DataType.BOOLEAN, [False, True], True),
        ("stddev", DataType.DOUBLE, [1.0], None),
        ("stddev_pop", DataType.DOUBLE, [1.0], 0.0),
        ("variance", DataType.BIGINT, [1, 2, 4], 7 / 3),
        ("var_pop", DataType.DOUBLE, [1e9 + 1, 1e9 + 2], 0.25),
        ("variance", DataType.DOUBLE, [1.0, math.inf], None),
    ],
)
def test_value(function: str, type_: DataType, values: list[Value], wanted: Value) -> None:
    assert same(_over(function, values, type_), wanted)


@pytest.mark.parametrize("function", AGGREGATES)
def test_over_nothing(function: str) -> None:
    assert _over(function, [None], DataType.BIGINT) == (0 if function == "count" else None)


def test_count_of_all_rows() -> None:
    assert aggregate(Aggregate.of("count"), [True, True, True]) == 3


def test_distinct() -> None:
    assert _over("sum", [2, 2, None, 3], DataType.BIGINT, distinct=True) == 5
    assert _over("count", [0.0, -0.0, 1.0], distinct=True) == 2


_NUMBERS = st.lists(st.floats(-1e150, 1e150), min_size=2, max_size=8)


@given(
    _NUMBERS.flatmap(lambda drawn: st.tuples(st.just(drawn), st.permutations(drawn))),
    st.sampled_from(sorted(AGGREGATES)),
)
def test_no_order_shows(orders: tuple[list[float], list[float]], function: str) -> None:
    one, other = orders
    assert _over(function, list(one)) == _over(function, list(other))


@given(_NUMBERS)
def test_against_python(numbers: list[float]) -> None:
    values: list[Value] = list(numbers)
    assert _over("sum", values) == math.fsum(numbers)
    assert same(_over("variance", values), statistics.variance(numbers))
    assert same(_over("stddev_pop", values), math.sqrt(statistics.pvariance(numbers)))
