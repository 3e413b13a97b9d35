"""Aggregates over the values of one group: computed exactly, then rounded, so that their order does not matter."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from thalweg.algebra.expressions import Aggregate, Expression, UserAggregate
from thalweg.algebra.expressions.user_aggregate import as_values
from thalweg.core.rows import Value
from thalweg.core.types import INT64_MAX, INT64_MIN


def aggregate(spec: Aggregate, values: list[Value]) -> Value:
    """The aggregate over its evaluated arguments, one per row of the group; COUNT(*) gets any non-NULL value per row.

    This function skips NULLs, and duplicates if the aggregate is DISTINCT.
    """
    present = [v for v in values if v is not None]
    if spec.distinct:
        present = list(dict.fromkeys(present))
    if spec.user is not None:
        return _by_user(spec.user, spec.argument, present)
    result: Value = REDUCTIONS[spec.function](present)
    return result


def _by_user(user: UserAggregate, argument: Expression | None, values: list[Any]) -> Value:
    """A user's aggregate gets sorted values, so that its result does not depend on their order of arrival."""
    assert argument is not None
    return user.over(as_values(sorted(values), argument.type))


def _sum(values: list[Any]) -> Any:
    """The exact sum; NULL if a BIGINT or INTERVAL sum overflows."""
    if not values:
        return None
    if any(isinstance(v, float) for v in values):
        return _rounded_sum(values)
    total = sum(values)
    return total if INT64_MIN <= total <= INT64_MAX else None


def _rounded_sum(values: list[Any]) -> float | None:
    """The exact sum, correctly rounded; inf - inf is NULL."""
    infinite = {v for v in values if math.isinf(v)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else None
    return _to_double(sum(map(Fraction, values), Fraction(0)))


def _average(values: list[Any]) -> float | None:
    total = _rounded_sum(values) if values else None
    return None if total is None else total / len(values)


def _variance(values: list[Any], freedom: int) -> float | None:
    """The sum of squared distances from the mean over n - freedom, rounded once."""
    if len(values) <= freedom or any(map(math.isinf, values)):
        return None
    exact = [Fraction(v) for v in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return _to_double(sum(((x - mean) ** 2 for x in exact), Fraction(0)) / (len(exact) - freedom))


def _deviation(values: list[Any], freedom: int) -> float | None:
    variance = _variance(values, freedom)
    return None if variance is None else math.sqrt(variance)


def _to_double(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


REDUCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": _sum,
    "avg": _average,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
    "stddev": lambda values: _deviation(values, 1),
    "stddev_pop": lambda values: _deviation(values, 0),
    "variance": lambda values: _variance(values, 1),
    "var_pop": lambda values: _variance(values, 0),
}
