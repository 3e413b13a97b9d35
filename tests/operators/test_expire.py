"""Catches an EXPIRE that tells an end late, twice, or after a deletion has already told it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from operators.feeds import Contents, Step, check, examples, feeds
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.operators.expire import Expire

ROWS = Schema.of(k=DataType.BIGINT, name=DataType.STRING)


def same(contents: Contents, t: Instant) -> list[Dated]:
    return contents(0, t)


@examples(150)
@given(feeds(ROWS, most=14), st.booleans())
def test_the_answer_stays(steps: list[Step], dated: bool) -> None:
    check(lambda _: Expire(ROWS), [ROWS], ROWS, steps, same, dated)
