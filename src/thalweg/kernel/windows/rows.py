"""`[ROWS n SLIDE m]`: the last n arrivals, of which m enter at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thalweg.algebra.windows import Rows
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.kernel.windows.count import CountWindow
from thalweg.kernel.windows.physical import with_lifetimes
from thalweg.kernel.windows.waiting import Waiting, count_waiting, wait


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
