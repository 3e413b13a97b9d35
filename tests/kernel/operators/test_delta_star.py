"""delta* against the reference at every instant.

Would catch: a gap or an overlap between the tuple that ends and the one that takes over, a negative tuple, a third
tuple kept for a value, chains of short tuples within one batch that break off.
"""

from __future__ import annotations

from hypothesis import given

from kernel.operators.feeds import Signed, Step, check, feeds, from_batch, to_batch
from strategies.effort import examples
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.reference import operators as reference

ONE = Schema.of(k=DataType.BIGINT)
TWO = Schema.of(x=DataType.DOUBLE, s=DataType.STRING)


@examples(250)
@given(feeds(ONE, direct=True, most=20))
def test_one_column(steps: list[Step]) -> None:
    check(lambda _: DeltaStar(ONE), [ONE], ONE, steps, lambda at, t: reference.distinct(at(0, t)), dated=False)


@examples(80)
@given(feeds(TWO, direct=True, most=14))
def test_two_columns(steps: list[Step]) -> None:
    check(lambda _: DeltaStar(TWO), [TWO], TWO, steps, lambda at, t: reference.distinct(at(0, t)), dated=False)


@examples(150)
@given(feeds(ONE, direct=True, most=20))
def test_two_tuples_per_value_at_most_and_no_negatives(steps: list[Step]) -> None:
    pool, operator = StringPool(), DeltaStar(ONE)
    emitted: list[Signed] = []
    for step in steps:
        emitted += from_batch(
            operator.process([to_batch(step.inputs[0], ONE, pool, False)], step.now), ONE, pool, False
        )
        shown = {signed.row for signed in emitted if signed.start <= step.now < signed.end}
        assert operator.stored <= 2 * len(shown)
    assert all(signed.sign > 0 for signed in emitted)


def _tuple(start: int, end: int) -> Signed:
    return Signed((7,), start, end, 1, 0, 0)


def _emitted(*batches: tuple[int, list[Signed]]) -> list[list[Signed]]:
    pool, operator = StringPool(), DeltaStar(ONE)
    return [
        from_batch(operator.process([to_batch(tuples, ONE, pool, False)], now), ONE, pool, False)
        for now, tuples in batches
    ]


def test_the_last_to_end_takes_over() -> None:
    # 1   3   5   7   9
    # [-------)              shown
    #     [-----------)      takes over at 5
    #       [---)            never needed
    emitted = _emitted((4, [_tuple(1, 5), _tuple(3, 9), _tuple(4, 6)]), (5, []), (9, []))
    assert emitted == [[_tuple(1, 5)], [_tuple(5, 9)], []]


def test_a_long_chain_within_one_batch() -> None:
    links = [_tuple(3 * i, 3 * i + 4) for i in range(1000)]  # each reaches one tick into the next
    gaps = [_tuple(4000 + 2 * i, 4001 + 2 * i) for i in range(1000)]
    (emitted,) = _emitted((9000, [*links, *gaps]))
    assert emitted[:2] == [_tuple(0, 4), _tuple(4, 7)]
    assert [(s.start, s.end) for s in emitted[1:1000]] == [(3 * i + 1, 3 * i + 4) for i in range(1, 1000)]
    assert emitted[1000:] == gaps


def test_what_never_ends_is_emitted_once() -> None:
    assert _emitted((1, [_tuple(1, FOREVER)]), (2, [_tuple(2, 9)]), (20, [])) == [[_tuple(1, FOREVER)], [], []]
