"""What every operator is: a function of its inputs' batches and the clock, with state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from thalweg.core.batch import Batch
from thalweg.core.time import Instant


class Operator(ABC):
    """Called once per batch, whether or not anything arrived: time may have passed."""

    @abstractmethod
    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """What the output gains, given what each input gained up to and at `now`."""

    @property
    def stored(self) -> int:
        """How many tuples the operator's state holds."""
        return 0
