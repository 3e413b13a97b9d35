"""Projection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thalweg.algebra.expressions import Expression
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.sweep.evaluate import Evaluator


class Project(Operator, kind="project/1"):
    """pi_E(S) = { E(s) : s in S }: one row for each row of S, duplicates kept.

    Update pattern: the input's. State: none. Paper: GolabOzsu2005 §2.2.
    """

    def __init__(self, schema: Schema, expressions: Sequence[Expression], pool: StringPool) -> None:
        self.items = tuple(expressions)
        self._evaluate = Evaluator(expressions, schema, pool)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The values of the expressions; signs, intervals and dates stay."""
        (batch,) = inputs
        return batch.with_columns(self._evaluate(batch.columns, len(batch)))

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same for each piece."""
        for piece in inputs[0]:
            yield self.process([piece], now)

    @property
    def takes_pieces(self) -> bool:
        """Each tuple is handled alone."""
        return True
