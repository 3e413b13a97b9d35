"""Timelines as text: `+a1[2,7)` is a positive tuple of the row ("a", 1) from 2 until 7, and F is forever."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernel.operators.feeds import Signed, from_batch, to_batch
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator

ROWS = Schema.of(key=DataType.STRING, number=DataType.BIGINT)

_TUPLE = re.compile(r"([+-])(\w)(\d+)\[(\d+),(\d+|F)\)")


class Timeline:
    """Feeds an operator what is drawn, and draws what it emits. A tuple is dated (start, end) by its first interval."""

    def __init__(self, operator: Operator, pool: StringPool, *, inputs: int = 1, dated: bool = True) -> None:
        self.operator = operator
        self._pool = pool
        self._dated = dated
        self._dates: list[dict[Row, tuple[Instant, Instant]]] = [{} for _ in range(inputs)]

    def feed(self, now: Instant, *texts: str) -> str:
        """The output up to `now`, given the tuples of each input."""
        inputs = [self._read(text, dates) for text, dates in zip(texts, self._dates, strict=True)]
        batches = [to_batch(tuples, ROWS, self._pool, self._dated) for tuples in inputs]
        return draw(from_batch(self.operator.process(batches, now), ROWS, self._pool, self._dated))

    def _read(self, text: str, dates: dict[Row, tuple[Instant, Instant]]) -> list[Signed]:
        tuples = []
        for sign, key, number, start, end in _TUPLE.findall(text):
            row, interval = (key, int(number)), (int(start), FOREVER if end == "F" else int(end))
            if sign == "+":
                dates.setdefault(row, interval)
            tuples.append(Signed(row, *interval, 1 if sign == "+" else -1, *dates[row]))
        return tuples


def draw(tuples: Sequence[Signed]) -> str:
    """Tuples as text, in order of start, then row; what comes before what goes."""
    ordered = sorted(tuples, key=lambda s: (s.start, str(s.row), -s.sign))
    return " ".join(
        f"{'+' if s.sign > 0 else '-'}{s.row[0]}{s.row[1]}[{s.start},{'F' if s.end == FOREVER else s.end})"
        for s in ordered
    )
