"""Cohorts: queries that were added together, with the same input from their start on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import immutable


@immutable("cohort/1")
@dataclass(frozen=True)
class Cohort:
    """Queries of one cohort have had the same input since their start, so they may share operators with state.

    They start at `start` and receive `feeds`, by source, up to `now`, the clock of the running queries; their results
    before `now` are not shown. Later feeds go to all queries.
    """

    number: int
    start: Instant
    now: Instant
    feeds: dict[str, Batch] = field(default_factory=dict)

    def shown(self, gained: Batch) -> Batch:
        """The changes up to `now`, cut so that none starts before `now`."""
        return gained.between(np.maximum(gained.start, self.now), gained.end)
