"""How an aggregate of a user's is declared, what it makes of results, and that it survives pickling.

Would catch: a mistake that shows only when a query runs, a NaN or an overflow that gets through, an error that does not
say who, over how many values and why, equal plans that are not shared, an engine elsewhere that cannot know it.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from strategies.aggregates import copies, listing, middle, spread
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import Aggregate, Column, UserAggregate, aggregate
from thalweg.algebra.expressions.declare import TypeLike
from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.expressions.user_aggregate import as_values
from thalweg.algebra.plan import GroupBy, NamedAggregate, StreamScan
from thalweg.algebra.sql import one_time_sql
from thalweg.core.errors import PlanError, ThalwegError, UserFunctionError
from thalweg.core.rows import Value
from thalweg.core.types import INT64_MAX, DataType
from thalweg.cql import register
from thalweg.reference.aggregates import aggregate as evaluate


def giving(result: Any, returns: TypeLike) -> UserAggregate:
    """An aggregate that gives `result` over any values but none."""
    return aggregate(returns=returns, name="given")(lambda values: result if len(values) else None)


def over(user: UserAggregate, values: list[Value], type_: DataType = DataType.BIGINT, distinct: bool = False) -> Value:
    return evaluate(Aggregate.of(user, Column(0, type_), distinct), values)


@pytest.mark.parametrize(
    ("result", "returns", "wanted"),
    [
        (None, int, None),
        (math.nan, float, None),
        (np.float64("nan"), float, None),
        (np.datetime64("NaT", "us"), datetime, None),
        (np.datetime64("NaT", "D"), datetime, None),
        (INT64_MAX + 1, int, None),
        (timedelta.max, timedelta, None),
        (3, float, 3.0),
        (np.int64(3), int, 3),
        (np.float32(0.5), "double", 0.5),
        (np.bool_(True), bool, True),
        (-0.0, float, 0.0),
        (math.inf, float, math.inf),
        ("x", "VARCHAR", "x"),
        (datetime(1970, 1, 1, 0, 0, 1), datetime, 1_000_000),
        (np.datetime64("1970-01-01T00:00:01", "ns"), "TIMESTAMP", 1_000_000),
        (np.timedelta64(2, "s"), timedelta, 2_000_000),
        (timedelta(seconds=2), DataType.INTERVAL, 2_000_000),
    ],
)
def test_results(result: Any, returns: TypeLike, wanted: Value) -> None:
    found = over(giving(result, returns), [1])
    assert found == wanted and type(found) is type(wanted) and str(found) == str(wanted)


@pytest.mark.parametrize(
    ("type_", "values", "seen"),
    [
        (DataType.BIGINT, [2, None, -1, 2], [-1, 2, 2]),
        (DataType.DOUBLE, [0.5, -0.0, None], [0.0, 0.5]),
        (DataType.BOOLEAN, [True, False], [False, True]),
        (DataType.STRING, ["b", "", "Z"], ["", "Z", "b"]),
        (DataType.TIMESTAMP, [1_000_000], [datetime(1970, 1, 1, 0, 0, 1)]),
        (DataType.INTERVAL, [1_000_000], [timedelta(seconds=1)]),
    ],
)
def test_values_are_handed_over_sorted_as_python_has_them(
    type_: DataType, values: list[Value], seen: list[Any]
) -> None:
    assert over(listing, values, type_) == "|".join(map(str, seen))


@pytest.mark.parametrize(
    ("user", "wanted"), [(listing, ""), (middle, None), (spread, None), (copies, None), (giving(3, int), None)]
)
def test_over_nothing_it_is_what_the_definition_says_or_null(user: UserAggregate, wanted: Value) -> None:
    assert over(user, [None], user.takes or DataType.BIGINT) == wanted


def test_distinct_and_conversion() -> None:
    assert over(listing, [2, 1, 2, None], distinct=True) == "1|2"
    assert str(Aggregate.of(spread, Column(0, DataType.BIGINT, "a")).argument) == "CAST(a AS DOUBLE)"
    assert Aggregate.of(listing, Column(0, DataType.NULL)).argument != Column(0, DataType.NULL)


class Halfway:
    def zero(self) -> int:
        return 0

    def insert(self, state: int, value: int) -> int:
        return state + value


def _stumbles(values: Sequence[int]) -> int:
    return values[5]


def _no_name(values: Sequence[int]) -> int:
    return 0


MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: aggregate(returns=complex)(_no_name),
     "TypeMismatchError: the aggregate _NO_NAME cannot return complex\n"
     "candidates: bool (BOOLEAN), int (BIGINT), float (DOUBLE), str (STRING), datetime (TIMESTAMP), "
     "timedelta (INTERVAL)"),
    (lambda: aggregate(returns=int, takes="NUMBER")(_no_name),
     "TypeMismatchError: the aggregate _NO_NAME cannot take NUMBER\n"
     "candidates: bool (BOOLEAN), int (BIGINT), float (DOUBLE), str (STRING), datetime (TIMESTAMP), "
     "timedelta (INTERVAL)"),
    (lambda: aggregate(returns=int)(lambda values: 0),
     "PlanError: an aggregate cannot be called <lambda>\n"
     'hint: give it a name: @aggregate(name="...")'),
    (lambda: aggregate(returns=int)(Halfway),
     "PlanError: the aggregate HALFWAY has no delete, value\n"
     "hint: an aggregate is a function of the values, or has zero(), insert(state, value), delete(state, value), "
     "value(state)"),
    (lambda: aggregate(returns=int)(3),
     "PlanError: the aggregate INT has no zero, insert, delete, value\n"
     "hint: an aggregate is a function of the values, or has zero(), insert(state, value), delete(state, value), "
     "value(state)"),
    (lambda: aggregate(returns=str)(_no_name),
     "UserFunctionError: the aggregate _NO_NAME returns STRING, but over 0 values it gave 0 (int)\n"
     "hint: convert the result, or declare another type: @aggregate(returns=...)"),
    (lambda: over(giving("x", float), [1, 2]),
     "UserFunctionError: the aggregate GIVEN returns DOUBLE, but over 2 values it gave 'x' (str)\n"
     "hint: convert the result, or declare another type: @aggregate(returns=...)"),
    (lambda: over(giving(True, int), [1]),
     "UserFunctionError: the aggregate GIVEN returns BIGINT, but over 1 value it gave True (bool)\n"
     "hint: convert the result, or declare another type: @aggregate(returns=...)"),
    (lambda: over(giving("yesterday", datetime), [1]),
     "UserFunctionError: the aggregate GIVEN returns TIMESTAMP, but over 1 value it gave 'yesterday' (str)\n"
     "hint: convert the result, or declare another type: @aggregate(returns=...)"),
    (lambda: over(aggregate(returns=int)(_stumbles), [1, 2, None]),
     "UserFunctionError: the aggregate _STUMBLES raised IndexError over 2 values: list index out of range\n"
     "hint: return None where there is no value: None and NaN are NULL"),
    (lambda: register(Catalog(), _no_name),
     "PlanError: _no_name is not an aggregate\nhint: declare it: @aggregate(returns=float)"),
    (lambda: register(Catalog(), aggregate(returns=int, name="Mean")(_no_name)),
     'PlanError: MEAN is a function of CQL\nhint: give it another name: @aggregate(name="...")'),
    (lambda: register(Catalog(), aggregate(returns=int, name="case")(_no_name)),
     'PlanError: CASE(...) means something else in CQL\nhint: give it another name: @aggregate(name="...")'),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises(ThalwegError) as caught:
        mistake()
    assert f"{type(caught.value).__name__}: {caught.value}" == message


def test_the_original_exception_is_kept() -> None:
    with pytest.raises(UserFunctionError) as caught:
        over(aggregate(returns=int)(_stumbles), [1])
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_name_is_taken_once_but_the_same_aggregate_may_come_again() -> None:
    catalog = Catalog()
    register(catalog, listing)
    register(catalog, listing)
    with pytest.raises(PlanError, match="there is an aggregate called LISTING already"):
        register(catalog, aggregate(returns=int, name="Listing")(_no_name))
    tried = catalog.copy()
    register(tried, middle)
    assert catalog.aggregates == [listing]
    catalog.adopt(tried)
    assert catalog.aggregate("MIDDLE") is middle


by_parts = aggregate(returns=int, name="counted")(_no_name)


@pytest.mark.parametrize("user", [listing, copies, spread, by_parts], ids=str)
def test_pickled(user: UserAggregate) -> None:
    again = pickle.loads(pickle.dumps(user))
    assert again == user and hash(again) == hash(user)
    assert (again is user) is (user is not by_parts)
    spec = Aggregate.of(user, Column(0, DataType.BIGINT))
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_what_was_decorated_stays_callable() -> None:
    assert middle([3, 4]) == 3


def test_there_is_no_sql_for_it() -> None:
    from strategies.catalog import S

    plan = GroupBy(StreamScan(S), (), (NamedAggregate(Aggregate.of(listing, Column(1, DataType.BIGINT, "v")), "l"),))
    with pytest.raises(PlanError, match=r"LISTING\(v\) has no one-time SQL: LISTING is defined in Python"):
        one_time_sql(plan, Dialect.DUCKDB, lambda leaf: "t")


def test_arrays() -> None:
    seen: list[Any] = []
    aggregate(returns=int, name="watch", arrays=True)(seen.append).over(as_values([1, 2], DataType.TIMESTAMP))
    assert seen[-1].dtype == "datetime64[us]" and seen[-1].tolist()[1] == datetime(1970, 1, 1, 0, 0, 0, 2)
