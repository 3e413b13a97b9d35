"""Windows that count tuples: a tuple waits until it enters, and then lives while it is among the last n of its key.

`[ROWS n SLIDE m]`: the last n arrivals, of which m enter at a time. `[PARTITION BY a, b ROWS n [RANGE t [SLIDE t]]]`:
the last n tuples of each key, within the range.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from thalweg.algebra.windows import PartitionedRows, Rows
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Key, columns_key
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.windows.last_of_each import Admitted, LastOfEach
from thalweg.kernel.windows.physical import PhysicalWindow, with_lifetimes

Waiting = tuple[Batch, ...]

# Longer runs are not merged, so that the cost of a batch does not grow with the number of waiting tuples.
_MERGE_UP_TO = 1 << 14


def wait(waiting: Waiting, more: Batch) -> Waiting:
    """Append tuples; short runs are merged, so that there are few."""
    if not len(more):
        return waiting
    while waiting and len(waiting[-1]) <= len(more) < _MERGE_UP_TO:
        more = Batch.concat([waiting[-1], more])
        waiting = waiting[:-1]
    return (*waiting, more)


def count_waiting(waiting: Waiting) -> int:
    """The number of waiting tuples."""
    return sum(map(len, waiting))


@immutable("count-window-update/1")
@dataclass(frozen=True)
class CountUpdate:
    """The update of a step: the tuples that wait after it, and the tuples that it admitted."""

    waiting: Waiting
    admitted: Admitted


class CountWindow(PhysicalWindow[CountUpdate]):
    """ROWS is PARTITION BY no columns (PatroumpasSellis2011 §3.3.2); subclasses differ in when tuples enter."""

    KEPT = ("_last_of_each", "_waiting")

    def __init__(self, keys: Sequence[int], count: int, schema: Schema, dated: bool) -> None:
        self._dated = dated
        self._last_of_each = LastOfEach(keys, count, schema, dated)
        self._waiting: Waiting = ()

    @abstractmethod
    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """The tuples that enter by `now`, with their greatest possible lifetimes; and the tuples that wait."""

    def evaluate(self, arrived: Batch, now: Instant) -> tuple[Batch, CountUpdate]:
        """Admit tuples, and end the tuples that they displace."""
        entering, waiting = self.admit(arrived, now)
        output, admitted = self._last_of_each.evaluate(entering, now)
        return output, CountUpdate(waiting, admitted)

    def commit(self, update: CountUpdate) -> None:
        """Queue the admitted tuples."""
        self._waiting = update.waiting
        self._last_of_each.commit(update.admitted)

    @property
    def stored(self) -> int:
        """The tuples in the window, and those that wait to enter."""
        return self._last_of_each.stored + count_waiting(self._waiting)


class RowsWindow(CountWindow, kind="rows-window/1"):
    """Arrival i enters with the last arrival of its block of m, and leaves when arrival i + n enters.

    Update pattern: WKS by order of expiration. State: the tuples in the window, and the incomplete block. Paper:
    PatroumpasSellis2011 §3.3.

        ROWS 3 SLIDE 2
        t        1     2              3      4
        arrive   a     b              c      d
        output         +a[2,F) +b[2,F)       +c[4,F) +d[4,F) -a[4,F)
    """

    def __init__(self, window: Rows, schema: Schema, dated: bool) -> None:
        super().__init__((), window.count, schema, dated)
        self._slide = window.slide

    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """The tuples of complete blocks enter; the others wait."""
        arrived = with_lifetimes(arrived, self._dated)
        m = self._slide
        if m == 1:
            return arrived, ()
        complete = (count_waiting(self._waiting) + len(arrived)) // m * m
        if not complete:
            return arrived.take(slice(0, 0)), wait(self._waiting, arrived)
        all_ = Batch.concat([*self._waiting, arrived])
        entering = all_.take(slice(complete))
        entering = replace(entering, start=np.repeat(entering.start[m - 1 :: m], m))
        return entering, wait((), all_.take(slice(complete, None)))


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
