"""`[PARTITION BY a, b ROWS n [RANGE t [SLIDE t]]]`: the last n of each key, then cut to the range."""

from __future__ import annotations

import numpy as np

from thalweg.algebra.windows import PartitionedRows
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Key, columns_key
from thalweg.kernel.windows.counting import CountingSteps, CountUpdate
from thalweg.kernel.windows.steps import lives
from thalweg.kernel.windows.waiting import Waiting, wait


class PartitionedSteps(CountingSteps, kind="partitioned-window/1"):
    """A tuple lives as the range says, until the n-th later tuple of its key is let in (PatroumpasSellis2011 §3.3).

    Pattern: WK by order of expiration; with a range ends are known, and premature ones are negative tuples. State: a
    queue per key, and what waits for the next slide.

        PARTITION BY k ROWS 1 RANGE 4
        t        1         2         3
        arrive   x         y         x
        output   +x[1,5)   +y[2,6)   +x[3,7) -x[3,5)
    """

    def __init__(self, window: PartitionedRows, schema: Schema, dated: bool) -> None:
        super().__init__(window.keys, window.count, schema, dated)
        self._range = window.range
        self._key = columns_key(schema, window.keys)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The partition."""
        return (self._key,)

    def next_wake(self, update: CountUpdate | None = None) -> Instant:
        """The next slide, if somebody waits for it."""
        waiting = self._waiting if update is None else update.waiting
        return int(waiting[0].start[0]) if waiting and self._range is not None else FOREVER

    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """Whatever the range shows by `now`; the rest waits for the next slide."""
        if self._range is None:
            return lives(arrived, self._dated), ()
        lived = lives(arrived, self._dated, *self._range.lifetimes(arrived.start))
        cut = int(np.searchsorted(lived.start, now, side="right"))
        late = lived.take(slice(cut, None))
        # All that waits does so for the same slide, the next one.
        if self._waiting and self._waiting[0].start[0] > now:
            return lived.take(slice(cut)), wait(self._waiting, late)
        return Batch.concat([*self._waiting, lived.take(slice(cut))]), wait((), late)
