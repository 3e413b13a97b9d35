"""Distinct against the reference at every instant.

Would catch: a value that vanishes with its first copy or stays after its last, a duplicate emitted twice, an instant
in two batches that is not put right, NULL that is not one value, dates that are not those of the copies alive.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, Step, check, feeds, from_batch, to_batch
from strategies.effort import examples
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.operators.distinct import Distinct
from thalweg.reference import operators as reference

ONE = Schema.of(k=DataType.BIGINT)
ALL = Schema.of(x=DataType.DOUBLE, s=DataType.STRING, b=DataType.BOOLEAN)


@examples(150)
@given(feeds(ONE, most=14), st.booleans())
def test_one_column(steps: list[Step], dated: bool) -> None:
    check(lambda _: Distinct(ONE, dated), [ONE], ONE, steps, lambda at, t: reference.distinct(at(0, t)), dated)


@examples(80)
@given(feeds(ALL), st.booleans())
def test_several_columns(steps: list[Step], dated: bool) -> None:
    check(lambda _: Distinct(ALL, dated), [ALL], ALL, steps, lambda at, t: reference.distinct(at(0, t)), dated)


def _emitted(*batches: tuple[int, list[Signed]]) -> list[list[Signed]]:
    """What a distinct emits after each batch."""
    pool, operator = StringPool(), Distinct(ONE)
    return [
        from_batch(operator.process([to_batch(tuples, ONE, pool, False)], now), ONE, pool, False)
        for now, tuples in batches
    ]


def _tuple(start: int, end: int, sign: int = 1) -> Signed:
    return Signed((7,), start, end, sign, 0, 0)


def test_what_ends_in_the_batch_is_closed_at_once() -> None:
    # 1   3   5   7   9
    # [-------)
    #     [-------)
    #                 [---
    emitted = _emitted((9, [_tuple(1, 5), _tuple(3, 7), _tuple(9, 20)]), (19, []), (20, []))
    assert emitted == [[_tuple(1, 7), _tuple(9, FOREVER)], [], [_tuple(20, FOREVER, -1)]]


def test_an_early_end_of_the_last_copy_ends_the_value() -> None:
    emitted = _emitted((2, [_tuple(1, 9), _tuple(2, 9)]), (4, [_tuple(4, 9, -1)]), (5, [_tuple(5, 9, -1)]), (9, []))
    assert emitted == [[_tuple(1, FOREVER)], [], [_tuple(5, FOREVER, -1)], []]


def test_an_instant_is_put_right() -> None:
    emitted = _emitted((3, [_tuple(3, 9)]), (3, [_tuple(3, 9, -1)]), (3, [_tuple(3, 5)]))
    assert emitted == [[_tuple(3, FOREVER)], [_tuple(3, FOREVER, -1)], [_tuple(3, FOREVER)]]


def test_state_is_gone_when_nothing_is_there() -> None:
    operator, pool = Distinct(ONE, dated=True), StringPool()
    operator.process([to_batch([_tuple(1, 5), _tuple(2, 4), _tuple(2, FOREVER)], ONE, pool)], 3)
    assert operator.stored > 0
    operator.process([to_batch([_tuple(6, FOREVER, -1)], ONE, pool)], 6)
    assert operator.stored == 0
