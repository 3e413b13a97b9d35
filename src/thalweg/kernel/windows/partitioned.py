"""`[PARTITION BY a, b ROWS n [RANGE t [SLIDE t]]]`: the last n tuples of each key, within the range."""

from __future__ import annotations

import numpy as np

from thalweg.algebra.windows import PartitionedRows
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Key, columns_key
from thalweg.kernel.windows.count import CountUpdate, CountWindow
from thalweg.kernel.windows.physical import with_lifetimes
from thalweg.kernel.windows.waiting import Waiting, wait


class PartitionedWindow(CountWindow, kind="partitioned-window/1"):
    """A tuple lives as long as the range says, but at most until the n-th later tuple of its key enters.

    Update pattern: WK by order of expiration; with a range, ends are known, and negative tuples end tuples before
    them. State: a queue for each key, and the tuples that wait for the next slide. Paper: PatroumpasSellis2011 §3.3.

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
        """The PARTITION BY columns."""
        return (self._key,)

    def next_wake(self, update: CountUpdate | None = None) -> Instant:
        """The next slide, if tuples wait for it."""
        waiting = self._waiting if update is None else update.waiting
        return int(waiting[0].start[0]) if waiting and self._range is not None else FOREVER

    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """The tuples whose lifetimes start by `now`; the others wait for the next slide."""
        if self._range is None:
            return with_lifetimes(arrived, self._dated), ()
        lived = with_lifetimes(arrived, self._dated, *self._range.lifetimes(arrived.start))
        cut = int(np.searchsorted(lived.start, now, side="right"))
        late = lived.take(slice(cut, None))
        # All waiting tuples wait for the same slide, the next one.
        if self._waiting and self._waiting[0].start[0] > now:
            return lived.take(slice(cut)), wait(self._waiting, late)
        return Batch.concat([*self._waiting, lived.take(slice(cut))]), wait((), late)
