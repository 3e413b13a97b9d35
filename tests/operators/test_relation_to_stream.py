"""Catches ISTREAM, DSTREAM or RSTREAM that lose bag counts, ends of tuples, or corrections to an open instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given

from operators.feeds import Contents, Step, check, examples, feeds
from thalweg.core.rows import Bag, Dated
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.operators.base import Operator
from thalweg.operators.r_stream import RStream
from thalweg.operators.relation_to_stream import DStream, IStream

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
