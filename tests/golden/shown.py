"""What an answer has gained, as rows that JSON can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from golden.happenings import read_bag
from kernel.operators.feeds import from_batch
from reference.oracle.tables import close
from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch
from thalweg.core.rows import Bag, Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

Interval = tuple[Row, Instant, Instant, int]  # a row counts so often from an instant to another


class Shown:
    """Intervals of an answer: those before a checkpoint, then those after it."""

    def __init__(self, schema: Schema, pool: StringPool | None = None, before: Iterable[Sequence[Any]] = ()) -> None:
        self._schema, self.pool = schema, pool or StringPool()
        self.intervals: list[Interval] = [(tuple(row), start, end, sign) for row, start, end, sign in before]

    def add(self, batch: Batch, pool: StringPool | None = None) -> None:
        """More of them."""
        tuples = from_batch(batch, self._schema, pool or self.pool, batch.dates is not None)
        self.intervals += [(t.row, t.start, t.end, t.sign) for t in tuples]

    def answer(self, t: Instant) -> Bag:
        """The bag at t."""
        bag: Bag = Counter()
        for row, start, end, sign in self.intervals:
            if start <= t < end:
                bag[row] += sign
        return Counter({row: count for row, count in bag.items() if count})


def right_answers(plan: Plan, past: History, since: Instant, end: Instant) -> dict[Instant, Bag]:
    """By the reference, the answers at all instants at which they may change, and at both ends."""
    reference = Reference(plan, past)
    return {t: reference.answer(t) for t in sorted({since, *reference.instants(end), end}) if t >= since}


def compare(shown: Shown, right: dict[Instant, Bag], golden: Sequence[Sequence[Any]]) -> None:
    """What is shown is right by the reference, and by what the reference said when the golden file was written."""
    assert [t for t, _ in golden] == list(right)
    for t, rows in golden:
        assert close(right[t], read_bag(rows)), f"the reference at {t}: once {rows}, now {right[t]}"
        assert close(right[t], shown.answer(t)), f"at {t}: the reference {right[t]}, restored {shown.answer(t)}"
