"""Every sign turned round."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator


class Negate(Operator, kind="negate/1"):
    """-S. Not an answer by itself: S1 + -S2 is one where S2 is part of S1, as in an anti-join.

    Update pattern: none of its own; the union above has one. State: none.
    """

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The same tuples with the other sign."""
        (batch,) = inputs
        return batch.negated()
