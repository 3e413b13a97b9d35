"""Aggregates over distinct values: a duplicate elimination stands before them."""

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
from thalweg.kernel.sweep.steps import Instants, Steps


class Deduplicated(Accumulator, kind="distinct-aggregate/1"):
    """COUNT(DISTINCT x) and its like, for one argument."""

    KEPT = ("_elimination", "_inner")

    def __init__(self, aggregates: Sequence[Aggregate], column: int, type_: DataType, known_ends: bool) -> None:
        self._column = column
        pairs = Schema.of(group=DataType.BIGINT, argument=type_)
        self._elimination: Operator = DeltaStar(pairs) if known_ends else Distinct(pairs)
        self._inner = Progressive([(aggregate, 1) for aggregate in aggregates])

    @property
    def stored(self) -> int:
        """What the elimination keeps, and the ends that wait."""
        return self._elimination.stored + self._inner.stored

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """When a group gains or loses a value; NULLs are none."""
        pairs = batch.with_columns((code, batch.columns[self._column]))
        missing = is_null(pairs.columns[1])
        seen = self._elimination.process([pairs.take(~missing) if missing.any() else pairs], now)
        return self._inner.gather(seen.columns[0], seen, now)

    def values(self, steps: Steps, places: Ints) -> list[Lane]:
        """The aggregates."""
        return self._inner.values(steps, places)[1:]


class Inhabited(Accumulator, kind="inhabited-groups/1"):
    """Whether a group has tuples, where their ends are known: only the last of each group need be kept."""

    KEPT = ("_elimination", "_inner")

    def __init__(self) -> None:
        self._elimination = DeltaStar(Schema.of(group=DataType.BIGINT))
        self._inner = Progressive([])

    @property
    def stored(self) -> int:
        """What the elimination keeps, and the ends that wait."""
        return self._elimination.stored + self._inner.stored

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """When a group appears, vanishes, or changes from one tuple to another."""
        seen = self._elimination.process([batch.with_columns((code,))], now)
        return self._inner.gather(seen.columns[0], seen, now)

    def values(self, steps: Steps, places: Ints) -> list[Lane]:
        """One or zero."""
        return self._inner.values(steps, places)
