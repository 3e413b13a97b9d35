"""Metrics of the operators of a pipeline: tuples in and out, and the size of their state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.time import FOREVER, LONGEST
from thalweg.kernel.operator import Operator
from thalweg.kernel.state.snapshot import Stateful


class TupleCounts(NamedTuple):
    """Tuples in and out of an operator."""

    positive_in: int
    negative_in: int
    positive_out: int
    negative_out: int


@dataclass
class OperatorMetrics(Stateful, kind="operator-metrics/1"):
    """Counts since the start of the query; `stored` (tuples) and `bytes` are current."""

    KEPT = (
        "batches", "positive_in", "negative_in", "positive_out", "negative_out", "messages_in", "messages_out",
        "premature", "stored", "comparisons", "orders",
    )  # fmt: skip

    operator: str
    batches: int = 0
    positive_in: int = 0
    negative_in: int = 0
    positive_out: int = 0
    negative_out: int = 0
    messages_in: int = 0  # time-messages
    messages_out: int = 0
    premature: int = 0  # results deleted before the end that they were emitted with
    stored: int = 0
    comparisons: int = 0  # of multi-way joins: candidate tuples compared
    orders: str = ""  # of multi-way joins: for each source the order of its walk
    bytes: int = 0

    def counts(self) -> TupleCounts:
        """The numbers of tuples in and out."""
        return TupleCounts(self.positive_in, self.negative_in, self.positive_out, self.negative_out)

    def add(self, counts: TupleCounts) -> None:
        """Add the counts of the same operator in another process."""
        for name, count in counts._asdict().items():
            setattr(self, name, getattr(self, name) + count)

    def count(self, inputs: Sequence[Batch], output: Batch, operator: Operator | None) -> None:
        """Count one more batch."""
        for batch in inputs:
            self._count_in(batch)
        self.count_out(output, operator)
        self.end_batch(operator)

    def counted(self, pieces: Iterable[Batch]) -> Iterator[Batch]:
        """The pieces of an input, counted when they are taken."""
        for piece in pieces:
            self._count_in(piece)
            yield piece

    def _count_in(self, piece: Batch) -> None:
        positive = int(np.count_nonzero(piece.sign > 0))
        self.positive_in += positive
        self.negative_in += len(piece) - positive

    def count_out(self, piece: Batch, operator: Operator | None) -> None:
        """Count a piece of the output."""
        negative = piece.sign < 0
        deleted = int(np.count_nonzero(negative))
        self.positive_out += len(piece) - deleted
        self.negative_out += deleted
        if deleted and operator is not None and operator.premature is None:
            self.premature += int(np.count_nonzero(piece.end[negative] < FOREVER))

    def end_batch(self, operator: Operator | None) -> None:
        """The batch is complete."""
        self.batches += 1
        if operator is not None:
            self.stored = operator.stored
            self.comparisons, self.orders = operator.comparisons, operator.join_orders
            own = operator.premature
            self.premature = self.premature if own is None else own


def summed(operators: Sequence[Sequence[OperatorMetrics]]) -> list[OperatorMetrics]:
    """The sums of the metrics of several equal pipelines, operator by operator."""
    together: list[OperatorMetrics] = []
    for same in zip(*operators, strict=True):
        one = vars(same[0]).copy()
        for other in same[1:]:
            one.update((name, one[name] + value) for name, value in vars(other).items() if isinstance(value, int))
        together.append(OperatorMetrics(**one))
    return together


@dataclass
class OutputDelay:
    """The delay between an arrival or an expiration and its effect on the answer, in ticks (N7)."""

    changes: int = 0
    total: int = 0
    maximum: int = 0

    def add(self, delays: Ints) -> None:
        """Add the delays of changes of the answer; changes dated before the first instant have no delay."""
        delays = delays[delays < LONGEST]
        if len(delays):
            self.changes += len(delays)
            self.total += int(delays.sum())
            self.maximum = max(self.maximum, int(delays.max()))

    @property
    def average(self) -> float:
        """The average delay of all changes so far."""
        return self.total / self.changes if self.changes else 0.0
