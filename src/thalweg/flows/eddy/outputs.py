"""The outputs of a group: for each query its slot, projection and windows."""

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
    """A projection of results, computed last."""

    def __init__(self, expressions: Sequence[Expression], schema: Schema, pool: StringPool) -> None:
        self.reads = frozenset().union(*map(columns_of, expressions))
        plain = [e.index for e in expressions if isinstance(e, Column)]
        self.columns = tuple(plain) if len(plain) == len(expressions) else None  # if it only picks columns
        self._evaluate = Evaluator(expressions, schema, pool)

    def __call__(self, columns: Sequence[Lane], rows: int) -> tuple[Lane, ...]:
        """The projected columns, given the columns that they read."""
        return self._evaluate(columns, rows)


@dataclass(frozen=True)
class GroupOutputs:
    """By bit, the slot, the projection and the widths of the windows by use.

    Bits with equal projections are of one kind; `rank` orders bits by kind.
    """

    slots: Ints
    projections: Sequence[Projection | None]
    widths: Ints
    kinds: Ints
    rank: Ints

    @staticmethod
    def of(slots: Ints, projections: Sequence[Projection | None], widths: Ints) -> GroupOutputs:
        """The outputs now: widths are copied, since they may change; slots and projections in use never change."""
        numbers: dict[int, int] = {}
        kinds = np.array([numbers.setdefault(id(shown), len(numbers)) for shown in projections], dtype=np.int64)
        rank = np.empty(len(kinds), dtype=np.int64)
        rank[np.argsort(kinds, kind="stable")] = np.arange(len(kinds))
        return GroupOutputs(slots, projections, widths.copy(), kinds, rank)
