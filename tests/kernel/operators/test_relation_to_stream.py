"""Catches ISTREAM, DSTREAM or RSTREAM that lose bag counts, ends of tuples, or corrections to an open instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given

from kernel.operators.drawn import ROWS as DRAWN
from kernel.operators.drawn import Timeline
from kernel.operators.feeds import Contents, Step, check, feeds
from strategies.effort import examples
from thalweg.core.rows import Bag, Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.r_stream import RStream
from thalweg.kernel.operators.relation_to_stream import DStream, IStream

ROWS = Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE)
BEFORE = -3  # earlier than anything drawn

Emission = Callable[[list[Dated], list[Dated]], Bag]


def emitted(emission: Emission) -> Callable[[Contents, Instant], list[Dated]]:
    """Everything emitted up to t, read off docs/semantics.md."""

    def model(contents: Contents, t: Instant) -> list[Dated]:
        found: list[Dated] = []
        before = contents(0, BEFORE)
        for instant in range(BEFORE, t + 1):
            now = contents(0, instant)
            found += [Dated(row, instant) for row in emission(before, now).elements()]
            before = now
        return found

    return model


def rows(tuples: list[Dated]) -> Bag:
    return Counter(d.row for d in tuples)


def all_if_changed(before: list[Dated], now: list[Dated]) -> Bag:
    changed = Counter((d.row, d.ts) for d in before) != Counter((d.row, d.ts) for d in now)
    return rows(now) if changed else Counter()


def run(steps: list[Step], make: Callable[[], Operator], emission: Emission, dated: bool = True) -> Operator:
    return check(lambda _: make(), [ROWS], ROWS, steps, emitted(emission), dated)


@examples(120)
@given(feeds(ROWS, most=14))
def test_istream(steps: list[Step]) -> None:
    run(steps, lambda: IStream(ROWS, dated=True), lambda before, now: rows(now) - rows(before))


@examples(120)
@given(feeds(ROWS, most=14))
def test_dstream(steps: list[Step]) -> None:
    run(steps, lambda: DStream(ROWS), lambda before, now: rows(before) - rows(now), dated=False)


@examples(120)
@given(feeds(ROWS, most=14))
def test_rstream(steps: list[Step]) -> None:
    run(steps, lambda: RStream(ROWS), all_if_changed)


def timeline(make: Callable[..., Operator], **options: Any) -> Timeline:
    return Timeline(make(DRAWN, **options), StringPool())


def test_istream_nets_an_instant() -> None:
    # a1 |---)            what goes and comes back at 4 has not changed
    #        a1 |---)
    line = timeline(IStream, dated=True)
    assert line.feed(1, "+a1[1,4)") == "+a1[1,F)"
    assert line.feed(4, "+a1[4,7) +b2[4,9) +b2[4,9)") == "+b2[4,F) +b2[4,F)"
    assert line.feed(9, "+a1[7,8)") == ""


def test_an_emission_is_taken_back_while_its_instant_is_open() -> None:
    line = timeline(IStream, dated=True)
    assert line.feed(3, "+a1[3,F)") == "+a1[3,F)"
    assert line.feed(3, "-a1[3,F)") == "-a1[3,F)"
    assert line.feed(3, "+a1[3,F)") == "+a1[3,F)"
    assert line.feed(5, "-a1[4,F) +a1[5,F)") == "+a1[5,F)"


def test_dstream_emits_what_ends() -> None:
    line = timeline(DStream, dated=True)
    assert line.feed(5, "+a1[1,4) +b2[2,9)") == "+a1[4,F)"
    assert line.feed(7, "-b2[6,9)") == "+b2[6,F)"
    assert line.feed(20, "") == ""
    assert line.operator.stored == 0


def test_rstream_emits_everything_whenever_something_changes() -> None:
    line = timeline(RStream)
    assert line.feed(2, "+a1[1,4) +b2[2,9)") == "+a1[1,F) +a1[2,F) +b2[2,F)"
    assert line.feed(3, "") == ""
    assert line.feed(4, "") == "+b2[4,F)"
    assert line.feed(4, "+c3[4,6)") == "+c3[4,F)"  # the instant is open: only what is new
    assert line.feed(9, "") == "+b2[6,F)"


def test_rstream_takes_back_an_instant_without_change() -> None:
    line = timeline(RStream)
    line.feed(2, "+a1[1,9)")
    assert line.feed(3, "+b2[3,9)") == "+a1[3,F) +b2[3,F)"
    assert line.feed(3, "-b2[3,9)") == "-a1[3,F) -b2[3,F)"
    assert line.feed(3, "+b2[3,9)") == "+a1[3,F) +b2[3,F)"
