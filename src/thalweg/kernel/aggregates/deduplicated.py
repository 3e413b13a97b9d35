"""Aggregates over distinct values: duplicate elimination, followed by the aggregates."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import Aggregate
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane, is_null
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.progressive import Progressive
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.operators.distinct import Distinct
from thalweg.kernel.sweep.steps import GroupSteps, Instants


class DistinctAggregate(Accumulator, kind="distinct-aggregate/1"):
    """COUNT(DISTINCT x), SUM(DISTINCT x), ... of one argument x."""

    KEPT = ("_elimination", "_inner")

    def __init__(self, aggregates: Sequence[Aggregate], column: int, type_: DataType, known_ends: bool) -> None:
        self._column = column
        pairs = Schema.of(group=DataType.BIGINT, argument=type_)
        self._elimination: Operator = DeltaStar(pairs) if known_ends else Distinct(pairs)
        self._inner = Progressive([(aggregate, 1) for aggregate in aggregates])

    @property
    def stored(self) -> int:
        """The tuples of the duplicate elimination, and pending ends."""
        return self._elimination.stored + self._inner.stored

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """The instants at which a group gains or loses a distinct value; NULLs do not count."""
        pairs = batch.with_columns((code, batch.columns[self._column]))
        missing = is_null(pairs.columns[1])
        seen = self._elimination.process([pairs.take(~missing) if missing.any() else pairs], now)
        return self._inner.gather(seen.columns[0], seen, now)

    def values(self, steps: GroupSteps, places: Ints) -> list[Lane]:
        """The aggregates from each step on."""
        return self._inner.values(steps, places)[1:]


class GroupPresence(Accumulator, kind="inhabited-groups/1"):
    """Whether a group exists, for inputs with known ends: at most two tuples of each group are kept (delta*)."""

    KEPT = ("_elimination", "_inner")

    def __init__(self) -> None:
        self._elimination = DeltaStar(Schema.of(group=DataType.BIGINT))
        self._inner = Progressive([])

    @property
    def stored(self) -> int:
        """The tuples of the duplicate elimination, and pending ends."""
        return self._elimination.stored + self._inner.stored

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """The instants at which a group appears, disappears, or continues with another tuple."""
        seen = self._elimination.process([batch.with_columns((code,))], now)
        return self._inner.gather(seen.columns[0], seen, now)

    def values(self, steps: GroupSteps, places: Ints) -> list[Lane]:
        """1 if the group exists, otherwise 0."""
        return self._inner.values(steps, places)
