"""Union of bags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.tuning import DEFAULT, Tuning


class Union(Operator, kind="union/1"):
    """S1 + S2 + ...: the multiplicities of a row add up (UNION ALL). Any number of inputs of equal types.

    Update pattern: the strongest of the inputs' patterns. State: none. Paper: GolabOzsu2005 §2.2 (merge-union).
    """

    def __init__(self, tuning: Tuning = DEFAULT) -> None:
        self._results_at_once = tuning.results_at_once

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """All tuples of all inputs."""
        return Batch.concat(inputs)

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The pieces of one input after the other; small ones are put together, because each costs its reader time."""
        held: list[Batch] = []
        for piece in chain.from_iterable(inputs):
            held.append(piece)
            if sum(map(len, held)) >= self._results_at_once:
                yield Batch.concat(held)
                held = []
        if held:
            yield Batch.concat(held)

    @property
    def takes_pieces(self) -> bool:
        """Each tuple is handled alone."""
        return True
