"""Selection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same for each piece."""
        for piece in inputs[0]:
            yield self.process([piece], now)

    @property
    def takes_pieces(self) -> bool:
        """Each tuple is handled alone."""
        return True

    @property
    def shrinks_pieces(self) -> bool:
        """Tuples are dropped."""
        return True
