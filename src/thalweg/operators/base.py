"""What every operator is: a function of its inputs' batches and the clock, with state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.state.snapshot import Stateful


class Operator(Stateful, ABC):
    """Called once per batch, whether or not anything arrived: time may have passed.

    What it remembers from batch to batch is named in KEPT, so that it can be taken down and restored.
    """

    @abstractmethod
    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """What the output gains, given what each input gained up to and at `now`."""

    @property
    def stored(self) -> int:
        """How many tuples the operator's state holds."""
        return 0

    @property
    def next_wake(self) -> Instant:
        """When time alone changes the output next, whatever the inputs; known to what keeps tuples back."""
        return FOREVER

    @property
    def premature(self) -> int | None:
        """How many results were deleted before their time, where the operator itself counts them."""
        return None
