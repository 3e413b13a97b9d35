"""Sign change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator


class Negate(Operator, kind="negate/1"):
    """-S: every tuple with the opposite sign. S1 + (-S2) is a bag if S2 is contained in S1, as in an anti-join.

    Update pattern: none; its output is no bag, and the union above has a pattern. State: none.
    """

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The tuples with opposite signs."""
        (batch,) = inputs
        return batch.negated()

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same for each piece."""
        for piece in inputs[0]:
            yield self.process([piece], now)

    @property
    def takes_pieces(self) -> bool:
        """Each tuple is handled alone."""
        return True
