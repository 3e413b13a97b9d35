"""Catches a negation that keeps the wrong tuples: another number, another choice, or at another instant.

The fast way (left tuples in order) and the exact way (any order) must both equal the reference, whatever the batches.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from operators.feeds import Contents, Signed, Step, check, examples, feeds
from thalweg.core.errors import PlanError
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.operators.negation import Negation
from thalweg.reference import operators as reference

LEFT = Schema.of(k=DataType.BIGINT, name=DataType.STRING, x=DataType.DOUBLE)
RIGHT = Schema.of(v=DataType.BIGINT, k=DataType.BIGINT)
NUMBERS = Schema.of(k=DataType.BIGINT)
PAIRS = Schema.of(k=DataType.BIGINT, v=DataType.BIGINT)


def run(
    steps: list[Step],
    left: Schema,
    right: Schema,
    on: list[tuple[int, int]],
    *,
    dated: bool = True,
    direct: bool = True,
) -> Negation:
    def make(pool: StringPool) -> Negation:
        return Negation(left, right, on, pool, ordered=dated, direct=direct)

    def model(contents: Contents, t: Instant) -> list[Dated]:
        # A direct negation trusts exp, also while the instant's negative tuples are still on their way.
        alive = [d for d in contents(0, t) if d.exp > t or not (dated and direct)]
        return reference.negation(alive, contents(1, t), on)

    operator = check(make, [left, right], left, steps, model, dated)
    assert isinstance(operator, Negation)
    return operator


@examples(150)
@given(feeds(LEFT, RIGHT, most=16))
def test_on_an_attribute(steps: list[Step]) -> None:
    run(steps, LEFT, RIGHT, [(0, 1)])


@examples(100)
@given(feeds(LEFT, RIGHT, most=16))
def test_on_an_attribute_with_ends_told_by_negative_tuples(steps: list[Step]) -> None:
    run(steps, LEFT, RIGHT, [(0, 1)], direct=False)


@examples(100)
@given(feeds(NUMBERS, NUMBERS, direct=True, most=16))
def test_known_ends_only(steps: list[Step]) -> None:
    run(steps, NUMBERS, NUMBERS, [(0, 0)])


@examples(150)
@given(feeds(NUMBERS, NUMBERS, most=16))
def test_except_all_without_dates(steps: list[Step]) -> None:
    run(steps, NUMBERS, NUMBERS, [(0, 0)], dated=False)


@examples(60)
@given(feeds(PAIRS, PAIRS, most=14))
def test_except_all_with_dates(steps: list[Step]) -> None:
    run(steps, PAIRS, PAIRS, [(0, 0), (1, 1)])
