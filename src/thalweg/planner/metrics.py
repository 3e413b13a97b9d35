"""What went through each operator of a pipeline, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.state.snapshot import Stateful


@dataclass
class OperatorMetrics(Stateful):
    """Counts since the start; `stored` is now. Negative tuples out of a plan that runs direct are premature ends."""

    KEPT = ("batches", "positive_in", "negative_in", "positive_out", "negative_out", "stored")

    operator: str
    batches: int = 0
    positive_in: int = 0
    negative_in: int = 0
    positive_out: int = 0
    negative_out: int = 0
    stored: int = 0

    def count(self, inputs: list[Batch], output: Batch, stored: int) -> None:
        """One more batch."""
        self.batches += 1
        for batch in inputs:
            positive = int(np.count_nonzero(batch.sign > 0))
            self.positive_in += positive
            self.negative_in += len(batch) - positive
        positive = int(np.count_nonzero(output.sign > 0))
        self.positive_out += positive
        self.negative_out += len(output) - positive
        self.stored = stored
