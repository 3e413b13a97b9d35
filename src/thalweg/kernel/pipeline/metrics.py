"""What went through each operator of a pipeline, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Counts since the start; `stored` (tuples) and `bytes` are now."""

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
    premature: int = 0  # results deleted before the end they had been told with
    stored: int = 0
    comparisons: int = 0  # of multi-way joins: tuples looked at as partners
    orders: str = ""  # of multi-way joins: by source of new tuples the inputs in the order in which they are walked
    bytes: int = 0

    def counts(self) -> TupleCounts:
        """Tuples in and out."""
        return TupleCounts(self.positive_in, self.negative_in, self.positive_out, self.negative_out)

    def add(self, counts: TupleCounts) -> None:
        """Add the tuples of the same operator elsewhere."""
        for name, count in counts._asdict().items():
            setattr(self, name, getattr(self, name) + count)

    def count(self, inputs: Sequence[Batch], output: Batch, operator: Operator | None) -> None:
        """One more batch."""
        self.batches += 1
        for batch in inputs:
            positive = int(np.count_nonzero(batch.sign > 0))
            self.positive_in += positive
            self.negative_in += len(batch) - positive
        negative = output.sign < 0
        deleted = int(np.count_nonzero(negative))
        self.positive_out += len(output) - deleted
        self.negative_out += deleted
        if operator is not None:
            self.stored = operator.stored
            self.comparisons, self.orders = operator.comparisons, operator.walks
            own = operator.premature
            early = int(np.count_nonzero(output.end[negative] < FOREVER)) if deleted and own is None else 0
            self.premature = self.premature + early if own is None else own


def summed(operators: Sequence[Sequence[OperatorMetrics]]) -> list[OperatorMetrics]:
    """The metrics of the operators of several equal pipelines, one by one."""
    together: list[OperatorMetrics] = []
    for same in zip(*operators, strict=True):
        one = vars(same[0]).copy()
        for other in same[1:]:
            one.update((name, one[name] + value) for name, value in vars(other).items() if isinstance(value, int))
        together.append(OperatorMetrics(**one))
    return together


@dataclass
class OutputDelay:
    """Between an arrival or an expiry and its effect in the answer, in ticks (N7)."""

    changes: int = 0
    total: int = 0
    maximum: int = 0

    def add(self, delays: Ints) -> None:
        """Changes of the answer that came so late; what was there before time began is not late."""
        delays = delays[delays < LONGEST]
        if len(delays):
            self.changes += len(delays)
            self.total += int(delays.sum())
            self.maximum = max(self.maximum, int(delays.max()))

    @property
    def average(self) -> float:
        """Over all changes so far."""
        return self.total / self.changes if self.changes else 0.0
