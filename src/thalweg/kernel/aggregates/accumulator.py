"""What every family of aggregates does with a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import Instants, Steps


class Accumulator(Stateful, ABC):
    """Called twice per batch: first to say when something happens, then to say what holds from each step on."""

    @abstractmethod
    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """Take in the tuples of groups, by code; the instants up to `now` at which the values may change."""

    @abstractmethod
    def values(self, steps: Steps, places: Ints) -> list[Lane]:
        """The values from each step on; `places` are the steps of the instants that `gather` gave."""

    def is_idle(self, codes: Ints) -> Flags:
        """Whether nothing is kept for groups that are empty now, nor will by itself come back."""
        return np.ones(len(codes), dtype=np.bool_)

    @property
    @abstractmethod
    def stored(self) -> int:
        """How many tuples the state holds."""
