"""Catches an EXPIRE that emits an end late, twice, or after a deletion has already ended the tuple."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.drawn import ROWS as DRAWN
from kernel.operators.drawn import Timeline
from kernel.operators.feeds import Contents, Step, check, feeds
from strategies.effort import examples
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.operators.expire import Expire

ROWS = Schema.of(k=DataType.BIGINT, name=DataType.STRING)


def same(contents: Contents, t: Instant) -> list[Dated]:
    return contents(0, t)


@examples(150)
@given(feeds(ROWS, most=14), st.booleans())
def test_the_answer_stays(steps: list[Step], dated: bool) -> None:
    check(lambda _: Expire(ROWS), [ROWS], ROWS, steps, same, dated)


def test_every_end_is_a_negative_tuple() -> None:
    line = Timeline(Expire(DRAWN), StringPool())
    assert line.feed(2, "+a1[1,4) +b2[2,3)") == "+a1[1,F) +b2[2,F)"
    assert line.feed(3, "+c3[3,F)") == "-b2[3,F) +c3[3,F)"
    assert line.operator.stored == 1
    assert line.feed(9, "+d4[5,6)") == "-a1[4,F) +d4[5,F) -d4[6,F)"  # also where both are known at once
    assert line.operator.stored == 0


def test_a_deleted_tuple_does_not_expire_as_well() -> None:
    line = Timeline(Expire(DRAWN), StringPool())
    line.feed(2, "+a1[1,7) +b2[2,7)")
    assert line.feed(3, "-a1[3,7)") == "-a1[3,F)"
    assert line.feed(7, "") == "-b2[7,F)"


def test_a_tuple_that_was_away_expires_once() -> None:
    line = Timeline(Expire(DRAWN), StringPool())
    line.feed(1, "+a1[1,9)")
    assert line.feed(6, "-a1[3,5)") == "-a1[3,F) +a1[5,F)"
    assert line.feed(9, "") == "-a1[9,F)"
