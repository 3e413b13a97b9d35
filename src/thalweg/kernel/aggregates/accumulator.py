"""The interface of a family of aggregates."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import GroupSteps, Instants


class Accumulator(Stateful, ABC):
    """Called twice for each batch: `gather` returns when values may change, `values` the values from each step on.

    An accumulator that takes pieces gets all but the last piece of a batch through `absorb`, before `gather`.
    """

    @property
    def takes_pieces(self) -> bool:
        """Whether a batch may come in pieces."""
        return False

    def absorb(self, code: Ints, piece: Batch) -> None:
        """Take a piece of a batch, which is not its last."""
        raise NotImplementedError(f"{type(self).__name__} needs whole batches")

    @abstractmethod
    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """Take the tuples of groups, given by code; return the instants up to `now` at which values may change."""

    @abstractmethod
    def values(self, steps: GroupSteps, places: Ints) -> list[Lane]:
        """The values from each step on; `places` are the steps of the instants that `gather` returned."""

    def is_idle(self, codes: Ints) -> Flags:
        """Which of some empty groups have no state left, and will not return without new tuples."""
        return np.ones(len(codes), dtype=np.bool_)

    @property
    @abstractmethod
    def stored(self) -> int:
        """The number of tuples in the state."""
