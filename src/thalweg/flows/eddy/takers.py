"""Who gets the results of a group, and what of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.expressions import Column, Expression, columns_of
from thalweg.core.lanes import Ints, Lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.sweep.evaluate import Evaluator


class Projection:
    """What queries show of a result, computed at the very end."""

    def __init__(self, expressions: Sequence[Expression], schema: Schema, pool: StringPool) -> None:
        self.reads = frozenset().union(*map(columns_of, expressions))
        plain = [e.index for e in expressions if isinstance(e, Column)]
        self.columns = tuple(plain) if len(plain) == len(expressions) else None  # if it shows columns as they are
        self._evaluate = Evaluator(expressions, schema, pool)

    def __call__(self, columns: Sequence[Lane], rows: int) -> tuple[Lane, ...]:
        """The query's columns, given those that it reads."""
        return self._evaluate(columns, rows)


@dataclass(frozen=True)
class Takers:
    """Who gets results of a group in a step: by bit the slot, what is shown, and by use the width of the window.

    Bits that show the same are of one kind; `rank` orders bits by kind.
    """

    slots: Ints
    projections: Sequence[Projection | None]
    widths: Ints
    kinds: Ints
    rank: Ints

    @staticmethod
    def of(slots: Ints, projections: Sequence[Projection | None], widths: Ints) -> Takers:
        """As they are now: widths may change later, slots and projections of bits in use do not."""
        numbers: dict[int, int] = {}
        kinds = np.array([numbers.setdefault(id(shown), len(numbers)) for shown in projections], dtype=np.int64)
        rank = np.empty(len(kinds), dtype=np.int64)
        rank[np.argsort(kinds, kind="stable")] = np.arange(len(kinds))
        return Takers(slots, projections, widths.copy(), kinds, rank)
