"""Running sums and variances of numbers of every size against Python's fractions.

Would catch: a digit lost between limbs, a carry of the wrong sign, a half rounded away from even, a subnormal or huge
sum rounded twice, a trace that a value leaves behind, limbs that are never given up, sums that a snapshot loses.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.lanes import NULL, Ints, Lane
from thalweg.core.types import INT64_MAX, INT64_MIN
from thalweg.kernel.aggregates import rounding
from thalweg.kernel.aggregates.moments import RunningMoments
from thalweg.kernel.aggregates.numbers import Numbers
from thalweg.kernel.aggregates.sums import RunningSums, Sums
from thalweg.kernel.sweep.steps import GroupSteps

_NEAR = st.sampled_from([1e16, -1e16, 1.0, 0.1, 1e308, -1e308, 2.0**53, 1 + 2**-52, 2.0**-53, 5e-324, -5e-324, 1e-308])
DOUBLES = st.lists(st.floats(allow_nan=False, allow_infinity=False) | _NEAR | st.floats(-1e3, 1e3), min_size=1)
INTS = st.lists(st.integers(INT64_MIN, INT64_MAX) | st.integers(-9, 9), min_size=1)


def _one_by_one(lane: Lane, weights: list[int] | None = None) -> tuple[Ints, Sums, Sums]:
    """Counts, sums and sums of squares after each value of one group."""
    rows = len(lane)
    steps, (places,) = GroupSteps.of([(np.zeros(rows, dtype=np.int64), np.arange(rows))])
    weight = np.ones(rows, dtype=np.int64) if weights is None else np.array(weights)
    numbers = Numbers.of(lane)
    sums = RunningSums().along(steps, places, weight, numbers)
    return np.cumsum(weight), sums, RunningSums().along(steps, places, weight, numbers.squared())


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@examples(200)
@given(DOUBLES)
def test_sums_of_doubles_are_exactly_rounded(values: list[float]) -> None:
    _, sums, _ = _one_by_one(np.array(values))
    exact = [sum(map(Fraction, values[: i + 1]), Fraction(0)) for i in range(len(values))]
    assert rounding.to_double(sums).tolist() == list(map(_rounded, exact))


@examples(100)
@given(INTS)
def test_sums_of_integers(values: list[int]) -> None:
    _, sums, _ = _one_by_one(np.array(values))
    exact = [sum(values[: i + 1]) for i in range(len(values))]
    assert rounding.to_int(sums).tolist() == [x if INT64_MIN <= x <= INT64_MAX else NULL for x in exact]
    assert rounding.to_double(sums).tolist() == list(map(float, exact))


def _variance(values: list[Fraction], freedom: int) -> float:
    mean = sum(values, Fraction(0)) / len(values)
    return _rounded(sum(((x - mean) ** 2 for x in values), Fraction(0)) / (len(values) - freedom))


@examples(100)
@given(DOUBLES | INTS | st.lists(st.floats(1e9, 1e9 + 1e-3), min_size=2), st.booleans())
def test_variances(values: list[float] | list[int], sample: bool) -> None:
    count, sums, squares = _one_by_one(np.array(values, dtype=np.array(values).dtype))
    found = rounding.variance(np.maximum(count, 1 + sample), sums, squares, int(sample))
    for i in range(int(sample), len(values)):
        wanted = _variance(list(map(Fraction, values[: i + 1])), int(sample))
        assert math.isclose(found[i], wanted, rel_tol=1e-14, abs_tol=1e-323)


@examples(60)
@given(DOUBLES)
def test_what_leaves_leaves_no_trace(values: list[float]) -> None:
    there_and_back = [1.0, *values, *values]
    weights = [1] * (1 + len(values)) + [-1] * len(values)
    _, sums, squares = _one_by_one(np.array(there_and_back), weights)
    assert rounding.to_double(sums)[-1] == 1.0 == rounding.to_double(squares)[-1]


def test_an_outlier_does_not_cost_for_ever() -> None:
    running = RunningSums()
    steps, (places,) = GroupSteps.of([(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))])
    one = np.ones(1, dtype=np.int64)

    def add(value: float, weight: Ints) -> int:
        return len(running.along(steps, places, weight, Numbers.of(np.array([value]))).limbs)

    add(1.0, one)
    assert add(1e300, one) > 10
    add(1e300, -one)
    assert add(2.0, one) <= 10


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 40), st.floats(allow_nan=False) | _NEAR), min_size=1, max_size=12))
def test_moments_that_are_restored_before_every_value(values: list[tuple[int, float]]) -> None:
    whole, restarted, one = RunningMoments(2), RunningMoments(2), np.ones(1, dtype=np.int64)
    for weight in (one, -one):
        for group, value in values:
            fresh = RunningMoments(2)
            fresh.restore(restarted.snapshot())
            restarted = fresh
            steps, (places,) = GroupSteps.of([(one * group, one)])
            wanted, got = (m.along(steps, places, weight, np.array([value])) for m in (whole, restarted))
            for function in ("count", "sum", "stddev"):
                np.testing.assert_array_equal(got.result(function, True), wanted.result(function, True))
