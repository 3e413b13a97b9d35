"""Catches a top-k that shows the wrong rows, breaks ties otherwise than by the row, or forgets one that must return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.feeds import Contents, Step, check, examples, feeds
from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import SortKey
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.operators import leaders
from thalweg.operators.top_k import Key, TopK
from thalweg.reference import operators as reference

ROWS = Schema.of(k=DataType.BIGINT, name=DataType.STRING, x=DataType.DOUBLE)
KEYS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), min_size=1, max_size=2)


@pytest.fixture(autouse=True, scope="module", params=["roomy", "tight"])
def rooms(request: pytest.FixtureRequest) -> Iterator[None]:
    """Also with so little room that a handful of tuples moves between near and far."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "tight":
            for name, value in {"_SPARE": 0, "_AMPLE": 1, "_FEW": 0}.items():
                patch.setattr(leaders, name, value)
        yield


def run(steps: list[Step], keys: Sequence[Key], limit: int, *, dated: bool, known_ends: bool = False) -> TopK:
    def make(pool: StringPool) -> TopK:
        return TopK(ROWS, keys, limit, pool, dated=dated, known_ends=known_ends)

    def model(contents: Contents, t: Instant) -> list[Dated]:
        plan_keys = [SortKey(Column(i, ROWS[i].type), *how) for i, *how in keys]
        return reference.top_k(contents(0, t), plan_keys, limit)

    operator = check(make, [ROWS], ROWS, steps, model, dated)
    assert isinstance(operator, TopK)
    return operator


@examples(100)
@given(feeds(ROWS, most=16), KEYS, st.integers(0, 4))
def test_dated(steps: list[Step], keys: list[Key], limit: int) -> None:
    run(steps, keys, limit, dated=True)


@examples(100)
@given(feeds(ROWS, most=16), KEYS, st.integers(0, 4))
def test_without_dates(steps: list[Step], keys: list[Key], limit: int) -> None:
    run(steps, keys, limit, dated=False)


@examples(100)
@given(feeds(ROWS, direct=True, most=16), KEYS, st.integers(0, 4), st.booleans())
def test_known_ends(steps: list[Step], keys: list[Key], limit: int, dated: bool) -> None:
    run(steps, keys, limit, dated=dated, known_ends=True)
