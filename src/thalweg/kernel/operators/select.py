"""Selection."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import Expression
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.sweep.evaluate import Condition


class Select(Operator, kind="select/1"):
    """sigma_p(S) = { s in S : p(s) is true }.

    Update pattern: the input's. State: none. Paper: GolabOzsu2005 §2.2.
    """

    def __init__(self, schema: Schema, predicate: Expression, pool: StringPool) -> None:
        self._predicate = Condition(predicate, schema, pool)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples for which the predicate is true; signs, intervals and dates stay."""
        (batch,) = inputs
        holds = self._predicate.holds(batch.columns, len(batch))
        return batch if holds.all() else batch.take(holds)
