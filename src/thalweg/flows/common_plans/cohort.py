"""When a query begins among others that run already, and what there is for it to see at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import immutable


@immutable("cohort/1")
@dataclass(frozen=True)
class Birth:
    """Queries of one birth have seen the same from their beginning on, so they may share what remembers.

    They begin at `start` and are told `feeds`, by source, which takes them to `now`, the clock of those that run; what
    they show before `now` nobody asks for. What is fed later is for all.
    """

    number: int
    start: Instant
    now: Instant
    feeds: dict[str, Batch] = field(default_factory=dict)

    def shown(self, gained: Batch) -> Batch:
        """What is left of gains at `now`, as new at `now`."""
        return gained.between(np.maximum(gained.start, self.now), gained.end)
