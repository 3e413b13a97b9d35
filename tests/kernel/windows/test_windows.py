"""Every window as an operator against `contents(arrivals, t)`, at every instant, however the arrivals are cut up.

Would catch: a tuple let in or out one arrival too early, an instant fed in two batches that counts as two, a queue
that loses rows when it moves, ties of a derived stream taken in the order they came, an instant that is corrected but
leaves its first output standing, a threshold that wraps, and a wrong date.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.windows.window_feeds import EXAMPLES, SCHEMA, Change, Step, check, feeds
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType

Drawn = st.SearchStrategy[Window]

K, X, NAME = range(3)
_COUNTS = st.integers(1, 6)
_RANGES = st.builds(Range, st.integers(1, 12), st.sampled_from([1, 1, 2, 3, 7]), st.integers(-3, 9))
_LANDMARKS = st.integers(-3, 20).flatmap(
    lambda x: st.sampled_from([Landmark(start=x), Landmark(end=x), Landmark(x, x + 7)])
)
_KEYS = st.sampled_from([(K,), (X,), (NAME,), (K, NAME), (NAME, X, K)])

WINDOWS: dict[str, Drawn] = {
    "range": _RANGES,
    "now": st.just(Now()),
    "unbounded": st.just(Unbounded()),
    "landmark": _LANDMARKS,
    "rows": st.builds(Rows, _COUNTS),
    "rows by blocks": st.builds(Rows, _COUNTS, _COUNTS),
    "partitioned": st.builds(PartitionedRows, _KEYS, st.integers(1, 4)),
    "partitioned with range": st.builds(PartitionedRows, _KEYS, st.integers(1, 4), _RANGES),
    "value": st.builds(ValueRange, st.just(K), st.integers(1, 6), st.just(DataType.BIGINT)),
    "value, double": st.builds(ValueRange, st.just(X), st.sampled_from([0.5, 1.5, 3.0]), st.just(DataType.DOUBLE)),
}


@pytest.mark.parametrize("drawn", WINDOWS.values(), ids=WINDOWS)
@EXAMPLES
@given(st.data())
def test_over_a_base_stream(drawn: Drawn, data: st.DataObject) -> None:
    steps = data.draw(feeds(corrected=False))
    check(data.draw(drawn), SCHEMA, steps, dated=data.draw(st.booleans()), derived=False)


@pytest.mark.parametrize("drawn", WINDOWS.values(), ids=WINDOWS)
@EXAMPLES
@given(st.data())
def test_over_a_derived_stream_with_corrections(drawn: Drawn, data: st.DataObject) -> None:
    steps = data.draw(feeds(corrected=True))
    check(data.draw(drawn), SCHEMA, steps, dated=data.draw(st.booleans()), derived=True)


_INTEGERS = [None, 0, 1, -1, 5, INT64_MAX, INT64_MAX - 1, INT64_MAX - 1500, INT64_MIN + 1, INT64_MIN + 2, 2**53 + 1]
_DOUBLES = [None, 0.0, -0.0, 1.5, -1e308, 1e308, math.inf, -math.inf, 5e-324]
_EXTREMES: list[tuple[DataType, Sequence[Value], Sequence[int | float]]] = [
    (DataType.BIGINT, _INTEGERS, [1, 2, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70]),
    (DataType.BIGINT, _INTEGERS, [0.5, 1.5, 2.0**63, 1e300, math.inf]),
    (DataType.TIMESTAMP, _INTEGERS, [1, 2**63 - 2, 2**64]),
    (DataType.DOUBLE, _DOUBLES, [0.5, 1e-320, 1e308, math.inf, 3]),
]


@pytest.mark.parametrize(("type_", "values", "widths"), _EXTREMES)
@EXAMPLES
@given(st.data())
def test_values_at_the_ends_of_their_types(
    type_: DataType, values: Sequence[Value], widths: Sequence[int | float], data: st.DataObject
) -> None:
    window = ValueRange(0, data.draw(st.sampled_from(widths)), type_)
    steps = data.draw(feeds(corrected=True, values=[values]))
    check(window, Schema.of(a=type_), steps, dated=False, derived=True)


def test_a_greatest_value_that_is_corrected_brings_back_what_it_ended() -> None:
    # RANGE 3 ON a
    #   clock   2      5      5      5      6
    #   fed     1 2    +4     +5     -5     +0
    #   shows   1 2    2 4    4 5    2 4    2 4
    window = ValueRange(0, 3, DataType.BIGINT)
    numbers = [(2, +1, 1), (2, +1, 2), (5, +1, 4), (5, +1, 5), (5, -1, 5), (6, +1, 0)]
    steps = [(t, [Change(sign, t, (value,))]) for t, sign, value in numbers]
    check(window, Schema.of(a=DataType.BIGINT), steps, dated=True, derived=True)


def _long(keys: int, batches: int, size: int) -> list[Step]:
    """A long stream over many keys, some hot, with ties; tuples differ in their number."""
    numbers = range(batches * size)
    arrivals = [Change(+1, i // 3, (i * i * 7919 % keys if i % 3 else i % 5, float(i), None)) for i in numbers]
    return [(arrivals[i + size - 1].ts, arrivals[i : i + size]) for i in range(0, len(arrivals), size)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "window",
    [
        Rows(70),
        Rows(40, 90),
        PartitionedRows((K,), 9),
        PartitionedRows((K,), 5, Range(40)),
        PartitionedRows((K,), 3, Range(8)),
        PartitionedRows((K,), 5, Range(40, 16)),
    ],
)
@pytest.mark.parametrize("size", [7, 60])
def test_queues_grow_and_move_without_losing_a_tuple(window: Window, size: int) -> None:
    check(window, SCHEMA, _long(60, 840 // size, size), dated=True, derived=False)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 50])
def test_a_key_that_returns_after_its_queue_was_given_up_starts_afresh(size: int) -> None:
    keys = [0, 0, 0, *range(1, 300), 0, 0, 0, 0]
    arrivals = [Change(+1, t, (key, float(t), None)) for t, key in enumerate(keys)]
    steps = [(batch[-1].ts, batch) for batch in (arrivals[i : i + size] for i in range(0, len(arrivals), size))]
    check(PartitionedRows((K,), 3, Range(10)), SCHEMA, steps, dated=True, derived=False)
