"""Union of bags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator


class Union(Operator, kind="union/1"):
    """S1 + S2 + ...: the multiplicities of a row add up (UNION ALL). Any number of inputs of equal types.

    Update pattern: the strongest of the inputs' patterns. State: none. Paper: GolabOzsu2005 §2.2 (merge-union).
    """

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """All tuples of all inputs."""
        return Batch.concat(inputs)

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The pieces of one input after the other."""
        for pieces in inputs:
            yield from pieces

    @property
    def takes_pieces(self) -> bool:
        """Each tuple is handled alone."""
        return True
